import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { HELLO, refuse, serve, stream } from '../support/provider.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { type RealProgram, startReal } from './setup/scratch.ts'

/* The dashboard and the alerts, asked of Debian's Prometheus, which scrapes a hub. */

const DOCS = join(import.meta.dirname, '../../docs')
const RULES = join(DOCS, 'prometheus-rules.yml')
const dashboard = z
  .object({
    panels: z.array(
      z.object({ id: z.int(), title: z.string(), targets: z.array(z.object({ expr: z.string() })) }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(DOCS, 'grafana-dashboard.json'), 'utf8')))
const rules = z
  .object({
    groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
  })
  .parse(parse(readFileSync(RULES, 'utf8')))

let provider: Awaited<ReturnType<typeof serve>>
let hub: TestHub
let prometheus: RealProgram

const PROMETHEUS = (hubUrl: string, token: string) => `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ["${RULES}"]
scrape_configs:
  - job_name: superbloom
    authorization: { credentials: "${token}" }
    static_configs: [{ targets: ["${new URL(hubUrl).host}"] }]
`

/** Starts a hub in which everything has happened that a panel or an alert shows. */
async function startBusyHub(): Promise<TestHub> {
  const price = { currency: 'EUR', input: 1, cachedInput: 1, output: 1 }
  const model = {
    default: { provider: 'compatible', baseUrl: provider.url, model: 'm', context: 32_768, price },
  }
  const servers = { metrics: false, odd: odd().entry, broken: { command: '/none/such', args: [] } }
  const started = await startTestHub({ config: JSON.stringify({ model, servers }) })
  await untilReady(started, 'odd')
  await fetch(`${started.url}/mcp`, { headers: { Authorization: 'Bearer wrong' } })
  using chat = await openChat(started)
  chat.socket.send('no JSON')
  await chat.next('error')
  await using client = await openClient('sdk 2, 2026-07-28', started)
  await client.call('odd__pid')
  await expect(client.call('no_such_tool')).rejects.toThrow()
  for (const message of ['hello', 'poison']) await client.call('hub_chat', { message })
  return started
}

beforeAll(async () => {
  const hello = stream(HELLO)
  provider = await serve((response, body, call) =>
    body.includes('poison') ? refuse(response, 401, { message: 'no' }) : hello(response, body, call),
  )
  hub = await startBusyHub()
  prometheus = await startReal({
    name: 'prometheus',
    prepare({ folder, port }) {
      const file = join(folder, 'prometheus.yml')
      writeFileSync(file, PROMETHEUS(hub.url, hub.token))
      const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`]
      return { command: 'prometheus', args: [...args, `--web.listen-address=127.0.0.1:${port}`] }
    },
    isReady: async url => (await fetch(`${url}/-/ready`)).ok,
  })
  // A rate takes two scrapes.
  await until('the hub was scraped twice', async () => {
    const [count] = await query('count_over_time(superbloom_info[1m])')
    return Number(count?.value[1]) >= 2
  })
})
afterAll(async () => {
  await prometheus?.[Symbol.asyncDispose]()
  await hub?.[Symbol.asyncDispose]()
  await provider?.[Symbol.asyncDispose]()
})

const answer = z.object({
  status: z.literal('success'),
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
})

async function query(expression: string) {
  const body = new URLSearchParams({ query: expression.replaceAll('$__rate_interval', '1m') })
  const response = await fetch(`${prometheus.url}/api/v1/query`, { method: 'POST', body })
  return answer.parse(await response.json()).data.result
}

function promtool(args: string[], input?: string) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}`.trim() }
}

test("promtool finds nothing to say of the figures' names, and takes the rules", async () => {
  const answered = await fetch(`${hub.url}/metrics`, { headers: { Authorization: `Bearer ${hub.token}` } })
  expect(promtool(['check', 'metrics'], await answered.text())).toEqual({ status: 0, said: '' })
  expect(promtool(['check', 'rules', RULES])).toMatchObject({ status: 0 })
})

describe('every query shows what there is', () => {
  const targets = dashboard.panels.flatMap(({ title, targets: each }) =>
    each.map(({ expr }) => [title, expr] as const),
  )

  test.each(targets)('panel %s: %s', async (_title, expr) => {
    expect(await query(expr)).not.toEqual([])
  })

  const alerts = rules.groups.flatMap(group => group.rules.map(({ alert, expr }) => [alert, expr] as const))

  test.each(alerts)('alert %s', async (_alert, expr) => {
    const selectors = expr.match(/\b(?:up|superbloom_\w+)(?:\{[^}]*\})?/g) ?? []
    expect(selectors.length).toBeGreaterThan(0)
    for (const selector of selectors) expect([selector, await query(selector)]).not.toEqual([selector, []])
    await query(expr)
  })
})

test('an alert fires for what is wrong, and none for what is not', async () => {
  const alerts = z.object({
    data: z.object({ alerts: z.array(z.object({ labels: z.record(z.string(), z.string()) })) }),
  })
  const names = await until('the dead letter is an alert', async () => {
    const found = alerts.parse(await (await fetch(`${prometheus.url}/api/v1/alerts`)).json())
    const all = found.data.alerts.map(({ labels }) => labels['alertname'])
    return all.includes('SuperbloomDeadLetters') && all
  })
  expect(names).toContain('SuperbloomServerDown')
  expect(names).not.toContain('SuperbloomDown')
  expect(names).not.toContain('SuperbloomAgentsHeld')
})
