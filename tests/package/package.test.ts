import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { request as send } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeSbom } from '../../scripts/sbom.ts'
import { builtProgram, ensureBuilt, root } from '../support/built.ts'
import { outsideNpm } from '../support/outside.ts'
import { crawlPage } from '../support/page-crawl.ts'
import { childrenOf, processesNaming } from '../support/processes.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from '../support/until.ts'

const HELLO = `
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
const server: McpServer = new McpServer({ name: 'hello', version: '1.0.0' })
server.registerTool('greet', { description: 'Greets', inputSchema: z.object({ name: z.string() }) }, ({ name }) => ({
  content: [{ type: 'text', text: 'Hello ' + name }],
}))
await server.connect(new StdioServerTransport())
`

let scratch: string
const folder = () => join(scratch, 'empty')
const installed = (...path: string[]) => join(folder(), 'node_modules', ...path)
const npm = (cwd: string, ...args: string[]) =>
  execFileSync('npm', ['--loglevel=error', ...args], {
    cwd,
    env: outsideNpm(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
const variables = { SUPERBLOOM_PORT: '0', SUPERBLOOM_CONFIG: '', SUPERBLOOM_MODEL: '', SUPERBLOOM_TOKEN: '' }
const npx = (...args: string[]) =>
  startProgram('npx', ['superbloom', ...args], { cwd: folder(), base: outsideNpm(), env: variables })

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'superbloom-package-'))
  ensureBuilt()
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

async function untilReady(program: Program): Promise<string> {
  const url = (await program.says(/Open (http:\/\/\S+)/))[1] ?? ''
  await until('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200)
  return url
}

test('a package without a known licence fails the build', () => {
  const place = join(scratch, 'licences')
  mkdirSync(place)
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, name), join(place, name))
  const lock = JSON.parse(readFileSync(join(place, 'package-lock.json'), 'utf8'))
  delete lock.packages['node_modules/express'].license
  writeFileSync(join(place, 'package-lock.json'), JSON.stringify(lock))
  expect(() => writeSbom(place, place)).toThrow(/^express@[\d.]+: no licence in package\.json; find it/)
})

test('the built hub starts in the checkout and is ready', async () => {
  const env = {
    ...variables,
    SUPERBLOOM_DATA: join(scratch, 'data'),
    SUPERBLOOM_AGENTS: join(scratch, 'agents'),
  }
  await using hub = await startProgram(process.execPath, [builtProgram, 'start'], { cwd: scratch, env })
  await untilReady(hub)
  hub.signal('SIGTERM')
  expect(await hub.ended).toEqual({ code: 0, signal: null })
})

describe('the package', () => {
  let hub: Program
  let url: string

  beforeAll(async () => {
    npm(root, 'pack', '--pack-destination', scratch)
    const [tarball = ''] = readdirSync(scratch).filter(name => name.endsWith('.tgz'))
    mkdirSync(folder())
    npm(folder(), 'install', join(scratch, tarball))
    hub = await npx('start')
    url = await untilReady(hub)
  })
  afterAll(() => hub?.[Symbol.asyncDispose]())

  test('has what it needs and nothing else', () => {
    const files = readdirSync(installed('superbloom'), {
      recursive: true,
      encoding: 'utf8',
      withFileTypes: true,
    })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(installed('superbloom').length + 1))
    expect(
      files.filter(
        file =>
          !/^(bin|dist|agents|docs)\/|^servers\/[a-z]+\/README\.md$|^(package\.json|[A-Z]+(\.md)?)$/.test(
            file,
          ),
      ),
    ).toEqual([])
    expect(files.filter(file => /\.test\.|\/(testing|tests)\/|\.ts$|\.map$|(^|\/)\./.test(file))).toEqual([])
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/superbloom.js',
        'bin/node.js',
        'dist/hub/cli/superbloom.js',
        'dist/hub/upstream/drop-in-loader.mjs',
        'dist/hub/catalogue/draw-picture.js',
        'dist/hub/http/files/read-pdf.js',
        'dist/hub/web/index.html',
        'dist/servers/metrics/server.js',
        'agents/homelab.md',
        'LICENSE',
      ]),
    )
  })

  test('says what it is made of, and under which licences', () => {
    const { components, dependencies } = JSON.parse(
      readFileSync(installed('superbloom', 'dist', 'sbom.cdx.json'), 'utf8'),
    )
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    const shipped = Object.keys(packages).filter(path => path !== '' && !packages[path].dev)
    const names = new Set(shipped.map(path => path.replace(/^.*node_modules\//, '')))
    const lines = readFileSync(installed('superbloom', 'dist', 'licenses.txt'), 'utf8')
      .trim()
      .split('\n')
    expect(new Set(lines.map(line => line.replace(/@[\d.]+[^@]*: .+$/, '')))).toEqual(names)
    expect(lines).toContain(`express@${packages['node_modules/express'].version}: MIT`)
    expect(components).toHaveLength(lines.length)
    expect(components.filter(({ licenses }: { licenses?: unknown }) => !licenses)).toEqual([])
    expect(dependencies).toHaveLength(lines.length + 1)
  })

  test('compiles nothing when it is installed', () => {
    expect(existsSync(installed('better-sqlite3', 'build'))).toBe(false)
  })

  test('makes the default agent in the folder where it is started', () => {
    expect(readFileSync(join(folder(), 'agents', 'homelab.md'))).toEqual(
      readFileSync(join(root, 'agents', 'homelab.md')),
    )
  })

  test('serves the page with everything that it loads, and no test', async () => {
    const { html, files } = await crawlPage(`${url}/`)
    expect(html).toContain('<title>Superbloom</title>')
    expect(files.filter(({ status }) => status !== 200)).toEqual([])
    const scripts = files.filter(({ type }) => type.includes('javascript')).map(({ path }) => path)
    // Parts of the page that are loaded at their first use share some code with the bundle.
    expect(scripts.filter(path => !/^\/assets\/[a-z-]+-\S+\.js$/.test(path))).toEqual(['/theme-boot.js'])
    expect(scripts.filter(path => path.startsWith('/assets/index-'))).toHaveLength(1)
    expect(
      readdirSync(installed('superbloom', 'dist', 'hub', 'web')).filter(name => name.endsWith('.ts')),
    ).toEqual([])
  })

  test('the page is small, and a reload transfers none of it again', async () => {
    const { files } = await crawlPage(`${url}/`)
    const paths = ['/', ...files.map(({ path }) => path)]
    let bytes = 0
    for (const path of paths) {
      const first = await send(`${url}${path}`, { headers: { 'accept-encoding': 'gzip' } })
      bytes += (await first.body.arrayBuffer()).byteLength
      const headers = { 'if-none-match': String(first.headers['etag']) }
      const again = await send(`${url}${path}`, { headers })
      await again.body.dump()
      expect({ path, status: again.statusCode }).toEqual({ path, status: 304 })
      const isKept = String(first.headers['cache-control']).includes('immutable')
      expect({ path, isKept }).toEqual({ path, isKept: path.startsWith('/assets/') })
    }
    expect(paths.length).toBeLessThan(15)
    expect(bytes).toBeLessThan(150_000)
  })

  test('runs its metrics server as JavaScript of the package', async () => {
    const { text } = await call('get_system_metrics')
    expect(text).toMatch(/CPU/)
    const { pid } = JSON.parse(readFileSync(join(folder(), 'data', 'hub.json'), 'utf8')) as { pid: number }
    const commands = childrenOf(pid).map(({ command }) => command)
    expect(commands.join('\n')).toContain(installed('superbloom', 'dist', 'servers', 'metrics', 'server.js'))
  })

  test('lets a dropped-in TypeScript server use its packages', async () => {
    const dropIn = join(folder(), 'data', 'servers', 'hello')
    mkdirSync(dropIn, { mode: 0o755 })
    writeFileSync(join(dropIn, 'server.ts'), HELLO)
    const { text } = await until('hello__greet answers', () =>
      call('hello__greet', { name: 'Ada' }).catch(() => undefined),
    )
    expect(text).toBe('Hello Ada')
  })

  test('answers from the command line', async () => {
    await using asked = await npx('ask', 'homelab', 'how is this machine doing?')
    expect(await asked.ended).toEqual({ code: 0, signal: null })
    expect(asked.stdout).toMatch(/CPU/)
  })

  test('plays the three stories of the demo, without the hub that runs here, and leaves nothing behind', async () => {
    const TMPDIR = join(scratch, 'tmp')
    mkdirSync(TMPDIR)
    const options = { cwd: folder(), base: { ...outsideNpm(), TMPDIR }, env: variables }
    await using demo = await startProgram('npx', ['superbloom', 'demo', '--play'], options)
    expect(await demo.ended, demo.stdout + demo.stderr).toEqual({ code: 0, signal: null })
    expect(demo.stdout).toMatch(/\(the phone shows\) Downloads are paused so that lab-arena runs well\.$/m)
    expect(demo.stdout).toMatch(/All three stories ended as they should\.\n$/)
    expect(demo.stderr).toBe('')
    expect(readdirSync(TMPDIR).filter(name => !name.startsWith('node-'))).toEqual([])
    expect(processesNaming(TMPDIR)).toEqual([])
  })

  test('names the installed program for MCP clients', async () => {
    await using asked = await npx('mcp', '--config', 'claude-desktop')
    await asked.ended
    const { mcpServers } = JSON.parse(asked.stdout) as {
      mcpServers: Record<string, { command: string; args: string[] }>
    }
    const { command = '', args = [] } = mcpServers['superbloom'] ?? {}
    expect(args).toEqual([installed('superbloom', 'bin', 'superbloom.js'), 'mcp', '--as', 'claude-desktop'])
    expect(existsSync(command)).toBe(true)
  })

  test('ends in order with npx', async () => {
    hub.signal('SIGTERM')
    await until('the hub is gone', () => processesNaming(folder()).length === 0)
    expect(readdirSync(join(folder(), 'data')).filter(name => /^hub\.json$|-wal$/.test(name))).toEqual([])
  })

  async function call(name: string, args: Record<string, unknown> = {}): Promise<{ text: string }> {
    const token = readFileSync(join(folder(), 'data', 'token'), 'utf8').trim()
    const client = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { Authorization: `Bearer ${token}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }))
    try {
      const { content, isError } = await client.callTool({ name, arguments: args })
      if (isError) throw new Error(JSON.stringify(content))
      return { text: content.map(block => (block.type === 'text' ? block.text : '')).join('\n') }
    } finally {
      await client.close()
    }
  }
})
