import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'

/** Milliseconds without a change before it is reported: editors write in several steps. */
const QUIET_MS = 150
/** Files of a dropped-in server that decide what it is. */
export const DROP_IN_FILES = ['server.ts', 'server.js', 'server.mjs', 'mcp.json', 'disabled']

export interface WatchedFiles {
  configFile: string
  agentsFolder: string
  dropInsFolder: string
}

export type Changed = 'config' | 'agents' | 'drop-ins'

/**
 * Watches the config file, the agent files and the drop-ins. Other files in their folders, such as a server's
 * log or database, cause no report. Resolves once it sees changes.
 */
export async function watchFiles(
  watched: WatchedFiles,
  { clock, log, onChange }: { clock: Clock; log: Log; onChange: (what: Changed) => void },
): Promise<AsyncDisposable> {
  const pending = new Map<Changed, () => void>()
  const watchOne = (what: Changed, folder: string, depth: number, isWanted: (name: string) => boolean) => {
    const run = () => {
      pending.delete(what)
      onChange(what)
    }
    const notice = () => {
      pending.get(what)?.()
      pending.set(what, clock.after(QUIET_MS, run))
    }
    const onError = (error: unknown) => log.warn('watch_failed', { error })
    return watchFolder({ folder, depth, isWanted, onChange: notice, onError })
  }
  const configName = basename(watched.configFile)
  const watchers = await Promise.all([
    watchOne('config', dirname(watched.configFile), 0, name => name === configName),
    watchOne('agents', watched.agentsFolder, 0, name => name.endsWith('.md')),
    watchOne('drop-ins', watched.dropInsFolder, 1, name => DROP_IN_FILES.includes(name)),
  ])
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(watchers.map(watcher => watcher[Symbol.asyncDispose]()))
      for (const cancel of pending.values()) cancel()
    },
  }
}

interface FolderToWatch {
  folder: string
  /** Levels of folders below it that are watched too. */
  depth: number
  /** Tells by a file's name whether it is watched. */
  isWanted: (name: string) => boolean
  onChange: () => void
  onError: (error: unknown) => void
}

/** Reports changes of wanted files in a folder, which may come and go. Resolves once it sees changes. */
async function watchFolder(watched: FolderToWatch): Promise<AsyncDisposable> {
  let ended = false
  let turn: Promise<void> = Promise.resolve()
  let watcher: FSWatcher
  // A watcher does not see a folder that replaces a removed one, and sees fewer levels of one that was
  // missing when it started. So the watcher is replaced.
  const startAgain = () => {
    turn = turn.then(async () => {
      await watcher.close()
      if (ended) return
      await start()
      watched.onChange()
    })
  }
  const start = async () => {
    const wasThere = existsSync(watched.folder)
    watcher = open(watched, startAgain)
    await once(watcher, 'ready')
    if (!wasThere && existsSync(watched.folder)) startAgain()
  }
  await start()
  return {
    async [Symbol.asyncDispose]() {
      ended = true
      await turn
      await watcher.close()
    },
  }
}

function open({ folder, depth, isWanted, onChange, onError }: FolderToWatch, onOther: () => void): FSWatcher {
  const watcher = watch(folder, {
    depth,
    ignoreInitial: true,
    ignored: (path, stats) => path !== folder && stats?.isFile() === true && !isWanted(basename(path)),
  })
  watcher.on('error', onError)
  return watcher.on('all', (event, path) => {
    if (path === folder && (event === 'unlinkDir' || event === 'addDir')) onOther()
    if (event === 'addDir' || (path === folder && event !== 'unlinkDir')) return
    if (event === 'unlinkDir' || isWanted(basename(path))) onChange()
  })
}
