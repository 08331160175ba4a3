import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgres, openStore, type Store } from '../../hub/store/open.ts'
import { leadAlone, makeDatabase, server } from './test-database.ts'

/** Makes a folder outside the repository; disposing removes it. */
export function makeTempFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'superbloom-test-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

export interface TempStore extends Store {
  readonly folder: string
}

/** Opens a real store in its own folder, or in a database of its own on the server of the tests. */
export async function openTempStore(): Promise<TempStore> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder()).path
  const database = server === undefined ? undefined : stack.use(await makeDatabase(server))
  const store = stack.use(database ? await openPostgres(database.url, leadAlone()) : await openStore(folder))
  const whole = stack.move()
  return { ...store, folder, [Symbol.asyncDispose]: () => whole.disposeAsync() }
}
