import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemNode } from '../support/outside.ts'
import { childrenOf, isRunning, processesNaming } from '../support/processes.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const NEW = process.execPath
const own = systemNode()
const major = own ? Number(/^v(\d+)/.exec(execFileSync(own, ['--version'], { encoding: 'utf8' }))?.[1]) : 0
/** A Node that is too old to run the program; only a machine that has one can test this. */
const OLD = own && major < 24 ? own : undefined
const NODES = [{ name: 'a new Node', node: NEW }, ...(OLD ? [{ name: `Node ${major}`, node: OLD }] : [])]

const BIN = join(import.meta.dirname, '../../bin')
const SUPERBLOOM = join(BIN, 'superbloom.js')
const RUN = join(BIN, 'node.js')

/** A program that prints who runs it, copies its input to its output, and exits with the given code. */
const ECHO = `
const [code]: string[] = process.argv.slice(2)
console.log(JSON.stringify({ version: process.version, argv: process.argv.slice(1) }))
process.exitCode = Number(code)
process.stdin.pipe(process.stdout)
`
/** A program that never ends by itself and handles no signal. */
const ENDLESS = `
setInterval(() => undefined, 1_000)
console.log(process.pid)
`

let folder: string
const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'superbloom-launcher-'))
  write('superbloom.yaml', 'servers: { metrics: false }\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const variables = () => ({
  SUPERBLOOM_PORT: '0',
  SUPERBLOOM_DATA: join(folder, 'data'),
  SUPERBLOOM_AGENTS: join(folder, 'agents'),
  SUPERBLOOM_CONFIG: '',
  SUPERBLOOM_MODEL: '',
})
const startCommand = (node: string, ...args: string[]) =>
  startProgram(node, [SUPERBLOOM, ...args], { cwd: folder, env: variables(), input: true })

/** Starts the hub and waits until it answers; `pid` is the hub's own and may differ from the launcher's. */
async function startHub(node: string): Promise<{ launcher: Program; pid: number; url: string }> {
  const launcher = await startCommand(node, 'start')
  const url = (await launcher.says(/Open (http:\S+)/))[1] ?? ''
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const { pid } = JSON.parse(readFileSync(join(folder, 'data', 'hub.json'), 'utf8')) as { pid: number }
  return { launcher, pid, url }
}

const gone = (pid: number) => until(`process ${pid} is gone`, () => !isRunning(pid))

/** Lists the files that a clean stop removes: the hub's own mark, and the database's log. */
const leftovers = () =>
  ['hub.json', 'superbloom.db-wal'].filter(name => existsSync(join(folder, 'data', name)))

describe.each(NODES)('the launcher on $name', ({ node }) => {
  test('runs TypeScript, and passes arguments, input, output and the exit code on', () => {
    const script = write('echo.ts', ECHO)
    const { status, stdout, stderr } = spawnSync(node, [RUN, script, '7', '--flag', 'two words'], {
      input: 'a line\n',
      encoding: 'utf8',
    })
    const [said = '', ...rest] = stdout.split('\n')
    const { version, argv } = JSON.parse(said) as { version: string; argv: string[] }
    expect(Number(/\d+/.exec(version)?.[0])).toBeGreaterThanOrEqual(24)
    expect(argv).toEqual([script, '7', '--flag', 'two words'])
    expect(rest).toEqual(['a line', ''])
    expect({ status, stderr }).toEqual({ status: 7, stderr: '' })
  })

  test('runs the program through a link, from any folder', () => {
    symlinkSync(SUPERBLOOM, join(folder, 'superbloom'))
    symlinkSync(join(BIN, '..'), join(folder, 'checkout'))
    for (const path of [join(folder, 'superbloom'), join(folder, 'checkout', 'bin', 'superbloom.js')]) {
      expect(execFileSync(node, [path, '--version'], { cwd: folder, encoding: 'utf8' })).toMatch(
        /^\d+\.\d+\.\d+\n$/,
      )
    }
    const viaLink = spawnSync(node, [join(folder, 'checkout', 'bin', 'node.js')], { encoding: 'utf8' })
    expect(viaLink).toMatchObject({ status: 1, stderr: 'usage: node bin/node.js SCRIPT [ARGUMENTS]\n' })
  })

  test.each([
    ['SIGTERM', 'alone'],
    ['SIGINT', 'alone'],
    // A service manager or terminal signals the whole group, so the launcher passes on a signal that the hub
    // already has.
    ['SIGTERM', 'group'],
    ['SIGINT', 'group'],
  ] as const)('%s to it %s ends the hub in order', async (signal, whom) => {
    // With an upstream server the stop takes long enough for a second signal to arrive during it.
    if (whom === 'group') write('superbloom.yaml', '')
    const { launcher, pid } = await startHub(node)
    await using _ = launcher
    expect(leftovers()).toHaveLength(2)
    launcher.signal(signal, whom)
    expect(await launcher.ended).toEqual({ code: 0, signal: null })
    expect(isRunning(pid)).toBe(false)
    expect(leftovers()).toEqual([])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('a second %s does not cut the end short', async signal => {
    write('superbloom.yaml', '')
    const { launcher, pid } = await startHub(node)
    await using _ = launcher
    launcher.signal(signal)
    await until('the hub is stopping', () => launcher.stderr.includes('hub_stopping'))
    if (isRunning(pid)) process.kill(pid, signal)
    // A signal that arrives after the cleanup may kill Node itself.
    await launcher.ended
    expect(leftovers()).toEqual([])
  })

  test('SIGTERM to npm, whose shell passes nothing on, ends the hub in order', async () => {
    const shell = [`'${node}' '${SUPERBLOOM}' start; exit $?`]
    const env = { ...variables(), npm_lifecycle_event: 'start' }
    await using npm = await startProgram('sh', ['-c', ...shell], { cwd: folder, env })
    await npm.says(/Open http/)
    const { pid } = JSON.parse(readFileSync(join(folder, 'data', 'hub.json'), 'utf8')) as { pid: number }
    npm.signal('SIGTERM')
    await gone(pid)
    expect(leftovers()).toEqual([])
  })

  test('a wrong config is said and gives its exit code', async () => {
    write('superbloom.yaml', 'concurrency: many\n')
    await using launcher = await startCommand(node, 'start')
    expect(await launcher.ended).toEqual({ code: 78, signal: null })
    expect(launcher.stderr).toContain('superbloom.yaml:1: concurrency')
  })

  test('the bridge for MCP clients has its input and output, and ends when its input does', async () => {
    const { launcher } = await startHub(node)
    await using _ = launcher
    await using bridge = await startCommand(node, 'mcp')
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })
    bridge.child.stdin?.write(`${line}\n`)
    const [answer] = await bridge.says(/^.*"id":1.*$/m)
    expect(JSON.parse(answer)).toMatchObject({ id: 1, result: { serverInfo: { name: 'superbloom' } } })
    bridge.child.stdin?.end()
    expect(await bridge.ended).toEqual({ code: 0, signal: null })
  })

  test('a script that breaks shows where, and ends with 1', () => {
    const script = write('broken.ts', 'const what: string = "broken"\nthrow new Error(what)\n')
    const { status, stderr } = spawnSync(node, [RUN, script], { encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain('Error: broken')
    expect(stderr).toContain('broken.ts:2')
  })
})

describe.runIf(OLD)('the launcher that started a newer Node', () => {
  const node = OLD ?? ''

  test('killed outright: the hub ends in order by itself', async () => {
    write('superbloom.yaml', '')
    const { launcher, pid } = await startHub(node)
    await using _ = launcher
    expect(pid).not.toBe(launcher.pid)
    launcher.signal('SIGKILL')
    await gone(pid)
    expect(leftovers()).toEqual([])
    await until('its servers are gone', () => processesNaming(folder).length === 0)
  })

  test('killed outright: what listens for no signal ends too, with its input still open', async () => {
    await using launcher = await startProgram(node, [RUN, write('endless.ts', ENDLESS)], { input: true })
    const pid = Number((await launcher.says(/^\d+/m))[0])
    launcher.signal('SIGKILL')
    await gone(pid)
  })

  test('killed outright: the bridge for MCP clients ends', async () => {
    const { launcher } = await startHub(node)
    await using _ = launcher
    await using bridge = await startCommand(node, 'mcp')
    const pid = await until('the bridge runs', () => childrenOf(bridge.pid)[0]?.pid)
    bridge.signal('SIGKILL')
    await gone(pid)
  })

  test('a child that a signal ended gives 128 and its number', async () => {
    await using launcher = await startProgram(node, [RUN, write('endless.ts', ENDLESS)])
    process.kill(Number((await launcher.says(/^\d+/m))[0]), 'SIGKILL')
    expect(await launcher.ended).toEqual({ code: 137, signal: null })
  })

  test('no Node that fits: says what to do', () => {
    cpSync(BIN, join(folder, 'bin'), { recursive: true })
    const { status, stdout, stderr } = spawnSync(node, [join(folder, 'bin', 'superbloom.js'), 'start'], {
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^Superbloom needs Node\.js 24 or newer; this is v\d+\S+, and the one that comes along \(package node-\S+\) is not installed: install again with this Node\.js and without --omit=optional, or install Node\.js 24 or newer from https:\/\/nodejs\.org\.\n$/,
    )
  })

  test('a Node that does not start here: says what to do', () => {
    cpSync(BIN, join(folder, 'bin'), { recursive: true })
    const binary = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
    mkdirSync(join(binary, '..'), { recursive: true })
    writeFileSync(join(binary, '..', '..', 'package.json'), '{}')
    writeFileSync(binary, '#!/no/such/interpreter\n')
    chmodSync(binary, 0o755)
    const { status, stderr } = spawnSync(node, [join(folder, 'bin', 'superbloom.js'), 'start'], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^The Node\.js that comes along does not start here \(.*ENOENT\): install Node\.js 24/,
    )
  })
})
