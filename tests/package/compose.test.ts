import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from '../support/built.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

/* Compose's two services as processes of this machine: their commands, variables, config and secret, no containers. */

interface Service {
  command?: string[]
  environment: Record<string, string>
}

const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as {
  services: Record<'hub' | 'metrics', Service>
}
const TOKEN = 'compose-test-token-0123456789'

let folder: string
let metrics: Program
let port: number

/** What Compose would set, with the containers' paths put in place of this machine's. */
function variablesOf({ environment }: Service): Record<string, string> {
  const entries = Object.entries(environment).map(([name, value]): [string, string] => [
    name,
    value
      .replace(/\$\{\w+:-\}/, '')
      .replace('/run/secrets/superbloom_token', join(folder, 'token'))
      .replace(/^\/config\b/, folder)
      .replace(/^\/host$/, '/'),
  ])
  return Object.fromEntries(entries)
}

const start = (args: readonly string[], env: Record<string, string>) =>
  startProgram(process.execPath, [join(root, 'bin', 'superbloom.js'), ...args], { cwd: folder, env })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-compose-'))
  writeFileSync(join(folder, 'token'), `${TOKEN}\n`)
  const command = (services.metrics.command ?? []).map(word => (word === '8431' ? '0' : word))
  metrics = await start(command, variablesOf(services.metrics))
  const url = await until(
    'the metrics server listens',
    () => /http:\S+:(\d+)\/mcp/.exec(metrics.stderr) ?? undefined,
  )
  port = Number(url[1])
})
afterAll(async () => {
  await metrics?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function statusFor(host: string, path: string): Promise<number | undefined> {
  const call = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { host } }).end('{}')
  const [response] = (await once(call, 'response')) as [{ statusCode?: number; resume(): void }]
  response.resume()
  return response.statusCode
}

test('the metrics server knows its service name, no other, and asks for the token', async () => {
  expect(await statusFor('metrics:8431', '/mcp')).toBe(401)
  expect(await statusFor('elsewhere:8431', '/mcp')).toBe(403)
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})

test('the hub uses the tools of the metrics service in place of its own', async () => {
  const config = readFileSync(join(root, 'docker', 'superbloom.yaml'), 'utf8')
  writeFileSync(join(folder, 'superbloom.yaml'), config.replace('metrics:8431', `127.0.0.1:${port}`))
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const env = {
    ...variablesOf(services.hub),
    SUPERBLOOM_DATA: join(folder, 'data'),
    SUPERBLOOM_AGENTS: join(folder, 'agents'),
    SUPERBLOOM_PORT: '0',
  }
  await using hub = await start(['start'], env)
  const url = (await hub.says(/Open (http:\S+)/))[1] ?? ''
  await until('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200)
  await using asked = await start(['ask', 'homelab', 'how is this machine doing?'], env)
  expect(await asked.ended).toEqual({ code: 0, signal: null })
  expect(asked.stdout).toMatch(/CPU/)
  await using status = await start(['status', '--json'], env)
  await status.ended
  const { servers } = JSON.parse(status.stdout) as { servers: unknown[] }
  expect(servers).toContainEqual(
    expect.objectContaining({ name: 'metrics', origin: 'config', state: 'ready', transport: 'http' }),
  )
})
