import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from '../../real/setup/npm-packages.ts'
import { startReal } from '../../real/setup/scratch.ts'
import { startProgram } from '../../support/program.ts'
import { openHubProcess } from '../hub-process.ts'
import { ERAS, type Era, openHttpClient, type RawClient } from './raw-client.ts'
import { openSseClient, openStdioClient } from './stream-clients.ts'

const ECHO = join(import.meta.dirname, 'echo-server.ts')
/** The other hubs and proxies, with their versions. */
const PEERS = { supergateway: '4.0.0', 'mcp-proxy': '6.7.19', 'mcp-hub': '4.2.1' }

export type Below = 'stdio' | 'HTTP'

/** A way to the echo server: directly, through this hub, or through another program. */
export interface Subject {
  /** The program between client and server, as named in the figures. */
  through: string
  /** `through` with the client's name. */
  name: string
  way: 'direct' | 'superbloom' | 'peer'
  below: Below
  above: Era
  /** The program between client and server; for a direct way, the server. */
  pid: number
  client: RawClient
  /** The tool's name by this way. */
  tool: string
}

interface Through extends Pick<Subject, 'through' | 'way' | 'below' | 'pid'> {
  tool?: string
}

/** Starts and connects all ways. The caller disposes of them. */
export async function openSubjects(): Promise<AsyncDisposable & { all: readonly Subject[] }> {
  await using stack = new AsyncDisposableStack()
  const all: Subject[] = []
  const add = async (via: Through, above: Era, opening: Promise<RawClient>) => {
    const client = stack.use(await opening)
    all.push({ name: `${via.through}, ${above} client`, above, client, tool: 'echo', ...via })
  }
  for (const above of ERAS) {
    const client = await openStdioClient(above, process.execPath, [ECHO])
    await add(
      { through: 'direct, stdio', way: 'direct', below: 'stdio', pid: client.pid },
      above,
      Promise.resolve(client),
    )
  }
  const http = stack.use(await startProgram(process.execPath, [ECHO, 'http']))
  const url = (await http.says(/http:\S+/))[0]
  const direct: Through = { through: 'direct, HTTP', way: 'direct', below: 'HTTP', pid: http.pid }
  for (const above of ERAS) await add(direct, above, openHttpClient(above, { url }))
  for (const below of ['stdio', 'HTTP'] as const) {
    const hub = stack.use(await openHub(below === 'stdio' ? undefined : url))
    const via: Through = { through: `superbloom, ${below} below`, way: 'superbloom', below, pid: hub.pid }
    for (const above of ERAS) await add(via, above, openHttpClient(above, hub))
  }
  for (const peer of peers(installPackages(PEERS))) {
    const { program, url: base } = stack.use(await startPeer(peer))
    const via: Through = {
      through: `${peer.name}, stdio below`,
      way: 'peer',
      below: 'stdio',
      pid: program.pid,
      tool: peer.tool,
    }
    for (const above of peer.eras) await add(via, above, peer.open(above, base))
  }
  const owned = stack.move()
  return { all, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Starts this hub with only the echo server, as a process or at an address. */
async function openHub(address: string | undefined) {
  const entry = address ? { url: address } : { command: process.execPath, args: [ECHO] }
  const servers = { metrics: false, echo: { ...entry, prefix: '' } }
  const hub = await openHubProcess({ agents: [], config: JSON.stringify({ servers }) })
  return { ...hub, url: `${hub.url}/mcp` }
}

interface Peer {
  name: string
  tool: string
  eras: readonly Era[]
  toArgs(place: { folder: string; port: number }): string[]
  isReady(base: string): Promise<boolean>
  open(above: Era, base: string): Promise<RawClient>
}

const overHttp = (above: Era, base: string) => openHttpClient(above, { url: `${base}/mcp` })
const answers = async (url: string, pattern = /./) => pattern.test(await (await fetch(url)).text())

/**
 * Returns the other programs, each started as its documentation says, with logs off if possible, and with the
 * client eras for which it keeps a server running.
 */
function peers(installed: string): readonly Peer[] {
  const at = (path: string) => join(installed, 'node_modules', path)
  return [
    {
      name: 'supergateway',
      tool: 'echo',
      // supergateway starts a process for each request of a 2026-07-28 client.
      eras: ['legacy'],
      toArgs: ({ port }) => [
        at('supergateway/dist/index.js'),
        ...['--stdio', `${process.execPath} ${ECHO}`, '--outputTransport', 'streamableHttp', '--stateful'],
        ...['--logLevel', 'none', '--healthEndpoint', '/healthz', '--port', `${port}`],
      ],
      isReady: base => answers(`${base}/healthz`),
      open: overHttp,
    },
    {
      name: 'mcp-proxy',
      tool: 'echo',
      eras: ERAS,
      toArgs: ({ port }) => [
        at('mcp-proxy/dist/bin/mcp-proxy.mjs'),
        ...['--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--', process.execPath, ECHO],
      ],
      isReady: base => answers(`${base}/ping`),
      open: overHttp,
    },
    {
      name: 'mcp-hub',
      tool: 'echo__echo',
      // mcp-hub speaks only the old SSE.
      eras: ['legacy'],
      toArgs({ folder, port }) {
        const file = join(folder, 'servers.json')
        writeFileSync(
          file,
          JSON.stringify({ mcpServers: { echo: { command: process.execPath, args: [ECHO] } } }),
        )
        return [at('mcp-hub/dist/cli.js'), '--config', file, '--port', `${port}`]
      },
      isReady: base => answers(`${base}/api/health`, /"status":"connected"/),
      open: (_above, base) => openSseClient(`${base}/mcp`),
    },
  ]
}

function startPeer({ name, toArgs, isReady }: Peer) {
  return startReal({
    name,
    prepare: place => ({
      command: process.execPath,
      args: toArgs(place),
      // These variables keep its own data in its folder.
      options: { cwd: place.folder, env: { HOME: place.folder, XDG_STATE_HOME: '', XDG_DATA_HOME: '' } },
    }),
    isReady,
  })
}
