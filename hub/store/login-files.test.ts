import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createLog } from '../core/log.ts'
import { backUp, restore } from './backup.ts'
import { takeLoginFiles } from './login-files.ts'
import { openStore } from './open.ts'
import { readServerLogins, saveServerLogin } from './server-logins.ts'

const NOW = Date.parse('2026-11-22T08:09:10.123Z')
const SECRET = 'a refresh token that no copy may have'

const login = (text: string) => ({ server: 'lamp', login_json: JSON.stringify({ text }), saved_at: NOW })

/** Saves logins one after the other, as renewals do, while a hub runs on the folder. */
async function logIn(folder: string, ...texts: string[]): Promise<void> {
  await using store = await openStore(folder)
  for (const text of texts) await store.writeSecret(tx => saveServerLogin(tx, login(text)))
}

/** Returns the logins that the next start of a hub on the folder has. */
async function loginsOf(folder: string) {
  await using store = await openStore(folder)
  const lines: string[] = []
  const log = createLog({ level: 'debug', now: () => NOW, write: line => lines.push(line) })
  await takeLoginFiles(store, folder, { now: () => NOW, log })
  expect(lines).toEqual([])
  return await readServerLogins(store.db)
}

test('a backup has no login at a server, neither as it is nor as it was', async () => {
  using folder = makeTempFolder()
  // Texts that are longer than a page leave it, and shorter ones after them leave pages free.
  await logIn(folder.path, ...[9_000, 30, 200].map(length => `${SECRET} ${'x'.repeat(length)}`))
  expect(readFileSync(join(folder.path, 'superbloom.db'), 'latin1')).toContain(SECRET)
  const { file } = await backUp(folder.path, NOW)
  expect(readFileSync(file, 'latin1')).not.toContain(SECRET.slice(0, 9))
  expect(await loginsOf(folder.path)).toHaveLength(1)
})

/** Makes a backup one of the version before logins were rows. */
function makeEarlier(file: string): void {
  const database = new Database(file)
  database.exec("drop table server_logins; delete from kysely_migration where name >= '020'")
  database.close()
}

test.each([
  ['this version', () => undefined],
  ['an earlier version', makeEarlier],
])('the logins at servers stay those of the folder when a backup of %s is put back', async (_what, age) => {
  using folder = makeTempFolder()
  await logIn(folder.path, 'as it was')
  const { file } = await backUp(folder.path, NOW, join(folder.path, 'mine.db'))
  age(file)
  await logIn(folder.path, SECRET)
  const { before = '', canBeUndone } = await restore(folder.path, file, NOW)
  expect(canBeUndone).toBe(true)
  expect(readFileSync(before, 'latin1')).not.toContain(SECRET)
  await restore(folder.path, before, NOW + 1_000)
  expect(await loginsOf(folder.path)).toEqual([login(SECRET)])
})
