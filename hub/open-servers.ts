import { getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerEvent } from '../schemas/events.ts'
import { builtIns } from './built-ins.ts'
import { createServerTools, type ServerTools } from './catalogue/server-tools.ts'
import { childEnvironment } from './config/environment.ts'
import { readDropInEntry } from './config/pasted-servers.ts'
import { codeFile } from './config/paths.ts'
import type { Foundation } from './foundation.ts'
import { ownsResource } from './mcp/hub-resources/hub-resources.ts'
import type { Router } from './runtime/router.ts'
import { readCursor } from './store/events.ts'
import { createServerEvents } from './triggers/server-events.ts'

/** Opens the upstream servers. Their events go to the router until the stack is disposed of. */
export function openServerTools(
  foundation: Foundation,
  router: Router,
  taken: ReadonlySet<string>,
  stack: AsyncDisposableStack,
): ServerTools {
  const { clock, random, log, signals, store, version, config } = foundation
  const ending = new AbortController()
  stack.defer(() => ending.abort())
  const readEvents = createServerEvents({
    clock,
    log,
    ending: ending.signal,
    readCursor: server => readCursor(store.db, server),
    post: (server, events, cursor) =>
      router.postFeed(
        server,
        events.map(event => toNewEvent(server, event)),
        cursor,
      ),
  })
  return createServerTools({
    clock,
    random,
    log,
    store,
    version,
    taken: { tools: taken, prompts: new Set(), isOwn: ownsResource },
    longestName: () => config.current.tools.longestName,
    builtIns,
    childEnvironment: (prefixes = []) => ({
      ...childEnvironment(prefixes),
      // A built-in server stores its files in the hub's own data folder.
      ...(prefixes.includes('SUPERBLOOM_DATA') ? { SUPERBLOOM_DATA: config.current.dataFolder } : {}),
      ...compileCache(),
    }),
    loader: pathToFileURL(codeFile('hub/upstream/drop-in-loader.mjs')).href,
    dataFolder: config.current.dataFolder,
    dropInsFolder: join(config.current.dataFolder, 'servers'),
    configured: () => {
      const { servers, heldServers, writtenNames } = config.current
      return { configured: servers, held: heldServers, writtenNames }
    },
    readEntry: readDropInEntry,
    onChange: change => signals.emit('servers', change),
    onEvents: readEvents,
    onUpdated: uri => signals.emit('resourceUpdated', { uri }),
    onNotice: (server, method, params) => signals.emit('serverNotice', { server, method, params }),
  })
}

/**
 * Returns where built-in and dropped-in servers cache what Node compiled, to start faster: the hub's folder,
 * or Node's default where the hub is built and has none.
 */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  return { NODE_COMPILE_CACHE: folder === undefined ? join(tmpdir(), 'node-compile-cache') : dirname(folder) }
}

function toNewEvent(server: string, event: ServerEvent) {
  const { id, type, key, payload, at } = event
  return { source: server, externalId: id, type, key, payload, at }
}
