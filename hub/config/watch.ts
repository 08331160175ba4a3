import { basename, dirname } from 'node:path'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { watchFolder } from './watch-folder.ts'

/** Milliseconds without a change before it is reported: editors write in several steps. */
const QUIET_MS = 150

const DROP_IN_FILES = ['server.ts', 'server.js', 'server.mjs', 'mcp.json', 'disabled']

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
 * Watches the config file, the agent files and the drop-ins. Other files in their folders, such as a server's
 * log or database, cause no report. Resolves once it sees changes.
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
  const folders = [
    {
      folder: dirname(watched.configFile),
      depth: 0,
      isWanted: (name: string) => name === configName,
      what: 'config' as const,
    },
    {
      folder: watched.agentsFolder,
      depth: 0,
      isWanted: (name: string) => name.endsWith('.md'),
      what: 'agents' as const,
    },
    {
      folder: watched.dropInsFolder,
      depth: 1,
      isWanted: (name: string) => DROP_IN_FILES.includes(name),
      what: 'drop-ins' as const,
    },
  ]
  const onError = (error: unknown) => deps.log.warn('watch_failed', { error })
  const watchers = await Promise.all(
    folders.map(({ what, ...folder }) => watchFolder({ ...folder, onError, onChange: () => notice(what) })),
  )
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(watchers.map(watcher => watcher[Symbol.asyncDispose]()))
      for (const cancel of pending.values()) cancel()
    },
  }
}
