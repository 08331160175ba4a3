import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'

export interface FolderToWatch {
  folder: string
  /** Levels of folders below it that are watched too. */
  depth: number
  /** Tells by a file's name whether it is watched. */
  isWanted: (name: string) => boolean
  onChange: () => void
  onError: (error: unknown) => void
}

/** Reports changes of wanted files in a folder, which may come and go. Resolves once it sees changes. */
export async function watchFolder(watched: FolderToWatch): Promise<AsyncDisposable> {
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
    await ready(watcher)
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

function ready(watcher: FSWatcher): Promise<void> {
  return new Promise(resolve => watcher.once('ready', () => resolve()))
}
