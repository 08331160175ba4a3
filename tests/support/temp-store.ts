import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../../hub/store/open.ts'

/** Makes a folder outside the repository; disposing removes it. */
export function makeTempFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'superbloom-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export interface TempStore extends Store {
  readonly folder: string
}

/** Opens a real SQLite store in its own folder. */
export async function openTempStore(): Promise<TempStore> {
  const folder = makeTempFolder()
  const store = await openStore(folder.path)
  return {
    db: store.db,
    write: store.write,
    writeSecret: store.writeSecret,
    compact: store.compact,
    findProblem: store.findProblem,
    folder: folder.path,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}
