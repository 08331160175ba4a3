import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { builtIns } from '../../hub/config/built-ins.ts'
import { root } from '../support/built.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

/*
 * Runs Compose's services as processes of this machine: their commands, variables, config and secret, no
 * containers.
 */

interface Service {
  command?: string[]
  /** A name without a value takes its value from outside. */
  environment: Record<string, string | null>
  volumes: unknown[]
}

const { services, volumes } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8')) as {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}
const SERVERS = builtIns.map(({ name }) => name)

let folder: string
const programs = new Map<string, Program>()
const ports = new Map<string, number>()

function serviceOf(name: string): Service {
  const service = services[name]
  if (!service) throw new Error(`docker-compose.yml has no service ${name}`)
  return service
}

/**
 * Returns the variables that Compose sets for an empty .env, with this machine's paths instead of the
 * containers'.
 */
function variablesOf({ environment }: Service, secrets: string): Record<string, string> {
  const entries = Object.entries(environment).flatMap(([name, value]): [string, string][] => {
    if (value === null) return []
    const here = value
      .replace(/\$\{\w+:-([^}]*)\}/, '$1')
      .replace(/^\/secrets\b/, secrets)
      .replace(/^\/config\b/, folder)
      .replace(/^\/host$/, '/')
    return [[name, here]]
  })
  return Object.fromEntries(entries)
}

const start = (args: readonly string[], env: Record<string, string>) =>
  startProgram(process.execPath, [join(root, 'bin', 'superbloom.js'), ...args], { cwd: folder, env })

async function startServer(name: string): Promise<void> {
  const service = serviceOf(name)
  const command = (service.command ?? []).map(word => (word === '8431' ? '0' : word))
  const env = { ...variablesOf(service, join(folder, 'secrets', name)), SUPERBLOOM_DATA: join(folder, name) }
  const program = await start(command, env)
  programs.set(name, program)
  const url = await until(`${name} listens`, () => /http:\S+:(\d+)\/mcp/.exec(program.stderr) ?? undefined)
  ports.set(name, Number(url[1]))
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-compose-'))
  for (const name of ['.', ...SERVERS]) {
    mkdirSync(join(folder, 'secrets', name), { recursive: true })
    writeFileSync(join(folder, 'secrets', name, 'token'), `compose-test-token-of-${name}`)
  }
  copyFileSync(join(root, 'docker', 'games.yaml'), join(folder, 'games.yaml'))
  for (const name of SERVERS) await startServer(name)
})
afterAll(async () => {
  for (const program of programs.values()) await program[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function statusFor(server: string, host: string, path: string): Promise<number | undefined> {
  const port = ports.get(server)
  const call = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { host } }).end('{}')
  const [response] = (await once(call, 'response')) as [{ statusCode?: number; resume(): void }]
  response.resume()
  return response.statusCode
}

test('each server is a service, with a volume of its own for its data', () => {
  const { tokens: _, ...running } = services
  expect(Object.keys(running).sort()).toEqual(['hub', ...SERVERS].sort())
  // The metrics server keeps nothing.
  for (const name of Object.keys(running).filter(each => each !== 'metrics')) {
    expect(serviceOf(name).volumes).toContain(`${name}-data:/data`)
    expect(Object.keys(volumes)).toContain(`${name}-data`)
  }
})

test('a service is handed only variables that its server reads', () => {
  for (const { name, envPrefixes } of builtIns) {
    const foreign = Object.keys(serviceOf(name).environment).filter(
      variable => !envPrefixes.some(prefix => variable.startsWith(prefix)),
    )
    expect(foreign).toEqual(['SUPERBLOOM_SERVER_TOKEN_FILE'])
    const readme = readFileSync(join(root, 'servers', name, 'README.md'), 'utf8')
    const unknown = Object.keys(serviceOf(name).environment).filter(variable => !readme.includes(variable))
    expect(unknown).toEqual(['SUPERBLOOM_SERVER_TOKEN_FILE'])
  }
})

test("a server's container is handed the token of that server, and no other", () => {
  for (const name of SERVERS) {
    const { volumes: mounts, environment } = serviceOf(name)
    const secrets = mounts.filter(mount => String(mount).includes('secrets'))
    expect(secrets).toEqual([`./secrets/${name}:/secrets:ro`])
    expect(environment['SUPERBLOOM_SERVER_TOKEN_FILE']).toBe('/secrets/token')
  }
})

test.each(SERVERS)('%s knows its service name, no other, and asks for the token', async name => {
  expect(await statusFor(name, `${name}:8431`, '/mcp')).toBe(401)
  expect(await statusFor(name, 'elsewhere:8431', '/mcp')).toBe(403)
  expect((await fetch(`http://127.0.0.1:${ports.get(name)}/healthz`)).status).toBe(200)
})

test('the hub uses the tools of the services in place of its own', async () => {
  const config = readFileSync(join(root, 'docker', 'superbloom.yaml'), 'utf8')
  writeFileSync(
    join(folder, 'superbloom.yaml'),
    config.replace(/\b(\w+):8431/g, (_, name) => `127.0.0.1:${ports.get(name)}`),
  )
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  const env = {
    ...variablesOf(serviceOf('hub'), join(folder, 'secrets')),
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
  await using doctor = await start(['doctor'], env)
  await doctor.ended
  expect(doctor.stdout).toMatch(/^All is well\.$/m)
  for (const name of SERVERS)
    expect(servers).toContainEqual(
      expect.objectContaining({ name, origin: 'config', state: 'ready', transport: 'http' }),
    )
})
