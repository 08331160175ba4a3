import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: JSON.stringify({ servers: { metrics: false, odd: odd().entry } }) })
  await untilReady(hub, 'odd')
})
afterAll(() => hub[Symbol.asyncDispose]())

async function scrape(token = hub.token): Promise<{ status: number; type: string; lines: string[] }> {
  const answer = await fetch(`${hub.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
  const text = await answer.text()
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', lines: text.split('\n') }
}

/** Returns the value of the one series with these labels. */
async function figure(series: string): Promise<number | undefined> {
  const { lines } = await scrape()
  const line = lines.find(each => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length))
}

test('the figures need the token', async () => {
  expect(await scrape('wrong')).toMatchObject({ status: 401 })
  expect(await scrape()).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' })
  expect(await figure('superbloom_http_requests_total{door="metrics",status="401"}')).toBe(1)
})

test("a message is counted with its cycle, steps, calls and tokens, and a client's call with its outcome", async () => {
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  const said = await chat.say('homelab', '/call odd__pid {}')
  await chat.answerTo(said)
  await hub.logs.find('the end of the cycle', ({ event }) => event === 'cycle_ended')
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  await client.call('odd__pid')
  await expect(client.call('no_such_tool')).rejects.toThrow()
  const expected = {
    'superbloom_http_requests_total{door="ws",status="101"}': 1,
    'superbloom_messages_total{outcome="ok"}': 1,
    'superbloom_cycle_duration_seconds_count{agent="homelab",outcome="done"}': 1,
    'superbloom_wake_delay_seconds_count{kind="message"}': 1,
    'superbloom_steps_total{agent="homelab"}': 2,
    'superbloom_model_call_duration_seconds_count{model="commands",outcome="ok"}': 2,
    'superbloom_tool_calls_total{server="odd",tool="odd__pid",class="look",caller="agent",outcome="ok"}': 1,
    'superbloom_tool_calls_total{server="odd",tool="odd__pid",class="look",caller="client",outcome="ok"}': 1,
    'superbloom_tool_calls_total{server="unknown",tool="unknown",class="unknown",caller="client",outcome="error"}': 1,
    'superbloom_server_state{server="odd",state="ready"}': 1,
    'superbloom_inbox_items{agent="homelab"}': 0,
    superbloom_dead_letters_open: 0,
  }
  const { lines } = await scrape()
  const found = Object.keys(expected).map(series => {
    const line = lines.find(each => each.startsWith(`${series} `))
    return [series, line && Number(line.slice(series.length))]
  })
  expect(Object.fromEntries(found)).toEqual(expected)
  expect(lines.join('\n')).not.toContain('no_such_tool')
  expect(await figure('superbloom_store_commit_duration_seconds_count')).toBeGreaterThan(0)
})

test('refused frames of chat are counted by their code', async () => {
  using chat = await openChat(hub)
  chat.socket.send('no JSON')
  await chat.next('error')
  expect(await figure('superbloom_chat_frames_refused_total{code="bad_request"}')).toBe(1)
})

test('every figure of the hub is in the reference, and back', async () => {
  const { lines } = await scrape()
  const shown = lines.flatMap(line => /^# TYPE (superbloom_\S+)/.exec(line)?.[1] ?? [])
  const reference = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
  const documented = [...reference.matchAll(/^\| `(superbloom_\w+)/gm)].map(match => match[1])
  expect(documented.sort()).toEqual(shown.sort())
  expect(shown.length).toBeGreaterThan(20)
})
