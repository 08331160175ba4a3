import { basename, dirname } from 'node:path'
import { watch } from 'chokidar'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** How long it must be quiet before a change is looked at: editors write in several steps. */
const QUIET_MS = 150

const DROP_IN_FILES = ['server.ts', 'server.js', 'server.mjs', 'mcp.json']

export interface Watched {
  configFile: string
  agentsFolder: string
  dropInsFolder: string
}

export type Changed = 'config' | 'agents' | 'drop-ins'

export interface WatchDeps {
  clock: Clock
  log: Log
  onChange: (what: Changed) => void
}

/**
 * Watches the config file, the agent files and the drop-ins, and nothing else in their folders: what a server writes
 * there (a log, a database) wakes nobody. Resolves once changes are seen.
 */
export async function watchFiles(watched: Watched, deps: WatchDeps): Promise<AsyncDisposable> {
  const pending = new Map<Changed, () => void>()
  const notice = (what: Changed) => {
    pending.get(what)?.()
    const run = () => {
      pending.delete(what)
      deps.onChange(what)
    }
    pending.set(what, deps.clock.after(QUIET_MS, run))
  }
  const configName = basename(watched.configFile)
  const watchers = [
    watchFolder(
      dirname(watched.configFile),
      0,
      name => name === configName,
      () => notice('config'),
    ),
    watchFolder(
      watched.agentsFolder,
      0,
      name => name.endsWith('.md'),
      () => notice('agents'),
    ),
    watchFolder(
      watched.dropInsFolder,
      1,
      name => DROP_IN_FILES.includes(name),
      () => notice('drop-ins'),
    ),
  ]
  for (const watcher of watchers) watcher.on('error', error => deps.log.warn('watch_failed', { error }))
  await Promise.all(
    watchers.map(watcher => new Promise<void>(resolve => watcher.once('ready', () => resolve()))),
  )
  return {
    async [Symbol.asyncDispose]() {
      for (const cancel of pending.values()) cancel()
      await Promise.all(watchers.map(watcher => watcher.close()))
    },
  }
}

function watchFolder(
  folder: string,
  depth: number,
  isWanted: (name: string) => boolean,
  onChange: () => void,
) {
  const watcher = watch(folder, {
    depth,
    ignoreInitial: true,
    ignored: (path, stats) => path !== folder && stats?.isFile() === true && !isWanted(basename(path)),
  })
  return watcher.on('all', (event, path) => {
    if (event === 'addDir' || (path === folder && event !== 'unlinkDir')) return
    if (event === 'unlinkDir' || isWanted(basename(path))) onChange()
  })
}
