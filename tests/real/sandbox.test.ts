import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hubStatus } from '../../schemas/hub-status.ts'
import { type Running, startCli } from '../support/cli.ts'
import { openClient, type TestClient, textOf } from '../support/clients.ts'
import { createHttpServer } from '../support/http-servers.ts'
import { processesNaming } from '../support/processes.ts'
import { until } from '../support/until.ts'

/* Hostile servers behind a hub in a process of its own, with the real bubblewrap. */

const HOSTILE = fileURLToPath(new URL('../fixtures/hostile-server.mjs', import.meta.url))
const SECRETS = {
  token: 'the-token-of-the-owner',
  environment: 'a-secret-of-the-environment',
  file: 'a-secret-in-a-file',
  config: 'a-secret-in-the-config',
  dotenv: 'a-secret-beside-the-config',
  store: 'SQLite format 3',
}

let home: string
let running: Running
let client: TestClient
const place = (path: string) => join(home, path)
const write = (path: string, text: string) => {
  mkdirSync(dirname(place(path)), { recursive: true })
  writeFileSync(place(path), text)
}
const hubFile = () => JSON.parse(readFileSync(place('data/hub.json'), 'utf8')) as { pid: number; url: string }
const stateOf = async (name: string) => {
  const { servers } = hubStatus.parse((await client.call('hub_status')).structuredContent)
  return servers.find(one => one.name === name)
}
const untilReady = (name: string) =>
  until(`${name} is ready`, async () => (await stateOf(name))?.state === 'ready')
const loot = async (name: string, isContained = true) => {
  const paths = ['data', 'data/token', 'data/superbloom.db', 'superbloom.yaml', '.env', 'key']
  // Without a sandbox it would take the machine's own mounts away.
  const hides = isContained ? [...paths.map(place), '/proc'] : []
  return textOf(await client.call(`${name}__loot`, { paths: paths.map(place), hides }))
}
const secretsIn = (text: string) => Object.values(SECRETS).filter(secret => text.includes(secret))

const far = createHttpServer('legacy')

beforeAll(async () => {
  await far.start(['ping'])
  home = mkdtempSync(join(tmpdir(), 'superbloom-sandbox-'))
  const hostile = { command: process.execPath, args: [HOSTILE] }
  const servers = {
    metrics: false,
    contained: hostile,
    open: { ...hostile, sandbox: 'off' },
    mine: { ...hostile, trust: 'own' },
    strict: { ...hostile, sandbox: 'strict' },
    given: { ...hostile, env: { KEY_FILE: place('key') } },
    polite: { ...hostile, args: [HOSTILE, place('goodbye')] },
    broken: { command: 'sh', args: ['-c', 'echo "error: no such thing" >&2; exit 7'] },
    absent: { command: 'no-such-program' },
    superuser: { command: 'sudo', sandbox: 'strict' },
  }
  write('superbloom.yaml', `# ${SECRETS.config}\n${JSON.stringify({ servers })}`)
  write('.env', SECRETS.dotenv)
  write('key', SECRETS.file)
  write('data/token', SECRETS.token)
  write('data/servers/dropped/note', 'its own file')
  const program = readFileSync(HOSTILE, 'utf8')
  write('data/servers/dropped/server.mjs', program)
  write('data/servers/scripted/server.js', program)
  // It has a package of the hub's own.
  write('data/servers/typed/server.ts', `import { z } from 'zod'\nz.string()\n${program}`)
  write('data/servers/entered/mcp.json', JSON.stringify(hostile))
  write('data/servers/far/mcp.json', JSON.stringify({ url: far.url }))
  const variables = {
    SUPERBLOOM_CONFIG: place('superbloom.yaml'),
    SUPERBLOOM_DATA: place('data'),
    SUPERBLOOM_AGENTS: place('agents'),
    SUPERBLOOM_PORT: '0',
    GRAFANA_TOKEN: SECRETS.environment,
    GRAFANA_KEY_FILE: place('key'),
  }
  running = startCli(['start'], { variables })
  await until('the hub runs', () => existsSync(place('data/hub.json')))
  client = await openClient('sdk 2, legacy', { url: hubFile().url, token: SECRETS.token })
})
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await running?.[Symbol.asyncDispose]()
  await far[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, force: true })
})

const DROPPED = ['dropped', 'scripted', 'typed', 'entered']
test.each(['contained', 'strict', 'polite', ...DROPPED])('%s sees nothing of the hub', async name => {
  await untilReady(name)
  expect(secretsIn(await loot(name))).toEqual([])
})

test('a dropped-in server at an address works beside them', async () => {
  await untilReady('far')
  expect((await client.listTools()).map(({ name }) => name)).toContain('far__ping')
})

test('a server without a sandbox, or of the owner, sees what it saw before', async () => {
  for (const name of ['open', 'mine']) {
    await untilReady(name)
    expect(secretsIn(await loot(name, false))).toEqual(Object.values(SECRETS))
  }
})

test('a server sees the secret that its entry gives it, and no other', async () => {
  await untilReady('given')
  expect(secretsIn(await loot('given'))).toEqual([SECRETS.file])
})

test('a dropped-in server reads and writes its own folder', async () => {
  await untilReady('dropped')
  const path = place('data/servers/dropped/note')
  expect(textOf(await client.call('dropped__loot', { paths: [path] }))).toContain('its own file')
  await client.call('dropped__write', { path, text: 'changed' })
  expect(readFileSync(path, 'utf8')).toBe('changed')
})

test('one that fails says how to switch the sandbox off, one that cannot be contained why', async () => {
  const broken = await until('it is down', async () => (await stateOf('broken'))?.error)
  expect(broken).toBe(
    'its process ended with code 7: error: no such thing (in a sandbox; "sandbox: off" in its entry starts it without)',
  )
  expect((await stateOf('absent'))?.error).toBe('the program no-such-program was not found (ENOENT)')
  expect(await stateOf('superuser')).toMatchObject({
    state: 'not_running',
    error: 'its entry says sandbox: strict, but sudo needs privileges that a sandbox takes away',
  })
})

test.each([
  [{ code: 3 }, 'its process ended with code 3'],
  [{ signal: 'SIGKILL' }, 'its process was ended by SIGKILL'],
])('the end of a server with %j is the reason, and it comes back', async (end, reason) => {
  await untilReady('contained')
  expect(textOf(await client.call('contained__end', end))).toContain(reason)
  await untilReady('contained')
})

test('a sandbox that is killed takes its server with it', async () => {
  await untilReady('polite')
  const ofServer = () => processesNaming(place('goodbye'))
  const isSandbox = ({ parent }: { parent: number }) => parent === hubFile().pid
  const killed = ofServer().find(isSandbox)?.pid ?? 0
  process.kill(killed, 'SIGKILL')
  await until('another one runs', () => ofServer().some(one => isSandbox(one) && one.pid !== killed))
  expect(ofServer().filter(({ pid, parent }) => [pid, parent].includes(killed))).toEqual([])
  await untilReady('polite')
  expect(existsSync(place('goodbye'))).toBe(false)
})

test('a server is asked to end before it is killed, and none outlives the hub', async () => {
  running.kill('SIGTERM')
  await running.ended()
  expect(readFileSync(place('goodbye'), 'utf8')).toBe('goodbye')
  expect(processesNaming(home)).toEqual([])
})
