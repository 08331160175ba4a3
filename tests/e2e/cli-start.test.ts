import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Running, runCli, startCli } from '../support/cli.ts'
import { openClient } from '../support/clients.ts'
import { npmServer, odd } from '../support/downstream.ts'
import { systemNode } from '../support/outside.ts'
import { childrenOf, isRunning, processesNaming, untilNoChildren } from '../support/processes.ts'
import { startProgram } from '../support/program.ts'
import { send } from '../support/raw-http.ts'
import { until, within } from '../support/until.ts'

let folder: string
let variables: Record<string, string>
const inFolder = (name: string) => join(folder, name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-start-'))
  variables = {
    SUPERBLOOM_CONFIG: inFolder('superbloom.yaml'),
    SUPERBLOOM_DATA: inFolder('data'),
    SUPERBLOOM_AGENTS: inFolder('agents'),
    SUPERBLOOM_PORT: '0',
  }
  writeFileSync(inFolder('superbloom.yaml'), 'servers: { metrics: false }\n')
})
afterEach(async () => {
  await untilNoChildren()
  await until('nothing is left of the hub', () => processesNaming(folder).length === 0)
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a hub, and waits for its address. */
async function boot(options: { node?: string } = {}): Promise<{ running: Running; url: string }> {
  const running = startCli(['start'], { variables, cwd: folder, ...options })
  const [, url = ''] = await running.says(/^Superbloom runs\. Open (http:\S+)\n/m)
  return { running, url }
}
const hubFile = () => JSON.parse(readFileSync(inFolder('data/hub.json'), 'utf8'))
const token = () => readFileSync(inFolder('data/token'), 'utf8').trim()

const majorOf = (node: string) =>
  Number.parseInt(execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10)

test('a hub that has no timer left ends with 0 and not with 13: its children are waited for, and all is closed', async () => {
  writeFileSync(inFolder('superbloom.yaml'), '')
  const program = fileURLToPath(new URL('../fixtures/hub-without-timers.ts', import.meta.url))
  await using hub = await startProgram(process.execPath, [program], { env: variables, cwd: folder })
  await hub.says(/^Runs at/m)
  await until('a server runs below it', () => childrenOf(hub.pid).length > 1)
  expect(existsSync(inFolder('data/hub.json'))).toBe(true)
  hub.signal('SIGTERM')
  expect(await within('its end', hub.ended)).toEqual({ code: 0, signal: null })
  expect(hub.stdout).toMatch(/^Ended in order$/m)
  expect(existsSync(inFolder('data/hub.json'))).toBe(false)
})

describe('superbloom start', () => {
  test('makes its folders, token and default agent, says where it is, and ends in order', async () => {
    const before = Date.now()
    await using hub = (await boot()).running
    const { url, pid, startedAt } = hubFile()
    const hint = `It asks for the token, which is in ${inFolder('data/token')}.`
    expect(hub.stdout).toBe(`Superbloom runs. Open ${url}\n${hint}\n`)
    expect(hub.stdout + hub.stderr).not.toContain(token())
    expect(isRunning(pid)).toBe(true)
    expect(startedAt).toBeGreaterThanOrEqual(before)
    expect(startedAt).toBeLessThanOrEqual(Date.now())
    expect(statSync(inFolder('data/token')).mode & 0o777).toBe(0o600)
    expect(token().length).toBeGreaterThanOrEqual(32)
    expect(existsSync(inFolder('agents/homelab.md'))).toBe(true)
    expect((await send(`${url}/readyz`)).json).toEqual({ status: 'ready' })
    await using client = await openClient('sdk 1', { url, token: token() })
    expect((await client.listTools()).length).toBeGreaterThan(8)
    for (const line of hub.stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('event')
    hub.kill('SIGTERM')
    expect((await hub.ended()).code).toBe(0)
    expect(existsSync(inFolder('data/hub.json'))).toBe(false)
  })

  test('loads nothing that its config does not use', async () => {
    const hook = join(import.meta.dirname, '..', 'fixtures', 'record-loads.mjs')
    Object.assign(variables, { NODE_OPTIONS: `--import=${hook}`, RECORD_LOADS: inFolder('loads.json') })
    await using hub = (await boot()).running
    hub.kill('SIGTERM')
    expect((await hub.ended()).code).toBe(0)
    const loads: string[] = JSON.parse(readFileSync(inFolder('loads.json'), 'utf8'))
    expect(loads.some(load => load.endsWith('/hub/mcp/endpoint.ts'))).toBe(true)
    const unused = [
      'time zones',
      /\/node_modules\/(openai|chrono-node|gamedig|nodemailer|marked|@opentelemetry)\//,
    ]
    const ours = [
      /\/servers\/(?!kit\/)/,
      /\/hub\/model\/(openai|commands)\/(?!commands-model)/,
      /\/hub\/cli\/commands\/(?!start)/,
    ]
    for (const one of [...unused, ...ours]) expect(loads.filter(load => load.match(one))).toEqual([])
  })

  test('ends on SIGINT too, and the token stays the same at the next start', async () => {
    const tokens: string[] = []
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      await using hub = (await boot()).running
      tokens.push(token())
      hub.kill(signal)
      expect((await hub.ended()).code).toBe(0)
    }
    expect(tokens[0]).toBe(tokens[1])
  })

  test('runs with the system’s Node, and under an older one ends with the launcher however that ends', async () => {
    await using hub = (await boot({ node: systemNode() ?? 'node' })).running
    const { pid } = hubFile()
    hub.kill('SIGTERM')
    expect((await hub.ended()).code).toBe(0)
    expect(isRunning(pid)).toBe(false)
    await using killed = (await boot({ node: systemNode() ?? 'node' })).running
    const after = hubFile().pid
    // A Node that is new enough runs the hub itself, so there is no launcher that could be killed alone.
    const runsItself = after === killed.pid
    killed.kill('SIGKILL')
    await killed.ended()
    await until(
      'the hub ended in order',
      () => !isRunning(after) && (runsItself || !existsSync(inFolder('data/hub.json'))),
    )
    expect(runsItself).toBe(majorOf(systemNode() ?? 'node') >= 24)
  })

  test('ends its servers and all that they started stubborn ones too', async () => {
    const servers = {
      metrics: {},
      everything: npmServer('everything'),
      mule: odd('stubborn', 'grandchild').entry,
      hang: odd('hang').entry,
    }
    writeFileSync(inFolder('superbloom.yaml'), JSON.stringify({ servers }))
    await using hub = (await boot()).running
    await until('all were started', () => childrenOf(hub.pid).length >= 5)
    await hub.says(/server_ready.*everything/)
    const below = childrenOf(hub.pid)
    hub.kill('SIGTERM')
    expect((await hub.ended()).code).toBe(0)
    expect(below.filter(({ pid }) => isRunning(pid))).toEqual([])
  })

  test('killed with -9: its servers end, stubborn ones too, and the next start finds no other hub', async () => {
    const servers = { everything: npmServer('everything'), mule: odd('stubborn', 'grandchild').entry }
    writeFileSync(inFolder('superbloom.yaml'), JSON.stringify({ servers }))
    await using running = (await boot()).running
    await running.says(/server_ready.*everything/)
    await running.says(/server_ready.*metrics/)
    await running.says(/server_ready.*mule/)
    const below = childrenOf(running.pid)
    // Three servers, a child of one of them, the process that ends them with the hub, and those of a sandbox.
    expect(below.length).toBeGreaterThanOrEqual(5)
    running.kill('SIGKILL')
    await running.ended()
    await until('its servers are gone', () => below.every(({ pid }) => !isRunning(pid)))
    expect(existsSync(inFolder('data/hub.json'))).toBe(true)
    expect((await runCli(['status'], { variables })).stderr).toMatch(/No hub runs/)
    await using next = (await boot()).running
    expect(hubFile().pid).not.toBe(running.pid)
    next.kill('SIGTERM')
    expect((await next.ended()).code).toBe(0)
  })
})

describe('a start that cannot be', () => {
  const CASES: [string, string, RegExp][] = [
    ['a key that there is not', 'timezone: UTC\nnonsense: 1\n', /superbloom\.yaml:2: nonsense: no such key/],
    ['a wrong type', 'servers:\n  x: { command: 5 }\n', /superbloom\.yaml:2: servers\.x\.command: .*string/],
    ['broken YAML', 'servers: {\n', /superbloom\.yaml:\d+: /],
    [
      'a secret that is not set',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: what a config may hold
      'model:\n  default:\n    baseUrl: http://localhost:1/v1\n    model: m\n    apiKey: "${NO_SUCH_KEY}"\n',
      /superbloom\.yaml:5: model\.default\.apiKey: the environment has no NO_SUCH_KEY/,
    ],
    ['a zone that there is not', 'timezone: Mars/Base\n', /superbloom\.yaml:1: timezone: .*IANA/],
  ]
  test.each(CASES)('%s in the config: exit 78 with file, line and reason', async (_name, text, words) => {
    writeFileSync(inFolder('superbloom.yaml'), text)
    const { code, stdout, stderr } = await runCli(['start'], { variables, cwd: folder })
    expect(stderr).toMatch(words)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(existsSync(inFolder('data/hub.json'))).toBe(false)
  })

  test.each([
    ['SUPERBLOOM_PORT', 'eighty', /SUPERBLOOM_PORT: eighty is not a port/],
    ['SUPERBLOOM_TOKEN', 'short', /SUPERBLOOM_TOKEN: must .*at least 16/],
    ['SUPERBLOOM_HOST', '203.0.113.7', /SUPERBLOOM_HOST: 203\.0\.113\.7 is no address of this machine/],
    ['SUPERBLOOM_CONFIG', '/no/such/file.yaml', /SUPERBLOOM_CONFIG: there is no file/],
    ['SUPERBLOOM_TOKEN_FILE', '/no/such/token', /SUPERBLOOM_TOKEN_FILE: .* cannot be read/],
  ])('%s=%s: exit 78 with the reason', async (name, value, words) => {
    const { code, stderr } = await runCli(['start'], {
      variables: { ...variables, [name]: value },
      cwd: folder,
    })
    expect(stderr).toMatch(words)
    expect(code).toBe(78)
  })

  test('a second hub on the same data folder ends with words, and the first goes on', async () => {
    const { running, url } = await boot()
    await using _hub = running
    const second = await runCli(['start'], { variables, cwd: folder })
    expect(second.stderr).toMatch(
      /^superbloom: Another hub already runs on the data folder .*data\. Stop it first/m,
    )
    expect(second.code).toBe(1)
    expect((await send(`${url}/healthz`)).status).toBe(200)
    expect(hubFile().url).toBe(url)
    running.kill('SIGTERM')
    expect((await running.ended()).code).toBe(0)
  })

  test('a store that lost its data: the newest backup is named, until the loss is accepted once', async () => {
    const end = async () => {
      await using hub = (await boot()).running
      hub.kill('SIGTERM')
      expect((await hub.ended()).code).toBe(0)
    }
    await end()
    const { code } = await runCli(['backup'], { variables, cwd: folder })
    expect(code).toBe(0)
    rmSync(inFolder('data/superbloom.db'))
    const refused = await runCli(['start'], { variables, cwd: folder })
    expect(refused.stderr).toMatch(
      /^superbloom: .*superbloom\.db is missing.*: superbloom restore .*superbloom-\d+-\d+\.db .*--accept-loss/m,
    )
    expect(refused.code).toBe(1)
    expect(existsSync(inFolder('data/superbloom.db'))).toBe(false)
    const found = await runCli(['doctor'], { variables, cwd: folder })
    expect(found.stdout).toMatch(/^PROBLEM store: .*superbloom\.db is missing/m)
    await using hub = startCli(['start', '--accept-loss'], { variables, cwd: folder })
    await hub.says(/^Superbloom runs/m)
    hub.kill('SIGTERM')
    const { stderr } = await hub.ended()
    expect(stderr).toContain('store_loss_accepted')
    await end()
    // The test starts six processes, one after the other.
  }, 120_000)

  test('a port that is taken', async () => {
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = String(typeof address === 'object' && address?.port)
    const { code, stderr } = await runCli(['start'], { variables: { ...variables, SUPERBLOOM_PORT: port } })
    other.close()
    expect(stderr).toMatch(new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is taken.*SUPERBLOOM_PORT`))
    expect(code).toBe(1)
    expect(existsSync(inFolder('data/hub.json'))).toBe(false)
  })
})
