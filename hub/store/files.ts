import type { Kysely } from 'kysely'
import { type FileEntry, LONGEST_FILE_HEAD } from '../../schemas/files.ts'
import { HubError } from '../core/errors.ts'
import type { Tables } from './tables.ts'
import type { Tx } from './writer.ts'

/** Files that one author may have sent without a message; they go after a day. */
const MOST_UNSENT = 40

export type NewFile = Omit<Tables['files'], 'conversation_id' | 'message_id'>

/** Keeps a file that no message has yet. Throws `rate_limited` where its author has too many such files. */
export async function addFile(tx: Tx, file: NewFile): Promise<void> {
  await checkUnsent(tx, file.author)
  await tx.insertInto('files').values(file).execute()
}

/** Throws `rate_limited` where an author has too many files without a message. */
export async function checkUnsent(db: Kysely<Tables>, author: string): Promise<void> {
  const { unsent } = await db
    .selectFrom('files')
    .select(({ fn }) => fn.countAll<number>().as('unsent'))
    .where('author', '=', author)
    .where('message_id', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(unsent) >= MOST_UNSENT)
    throw new HubError('rate_limited', `There are ${MOST_UNSENT} files without a message; send those first.`)
}

/** Returns an author's files with the beginnings of their texts, in the order of the ids. Throws `not_found`. */
export async function filesOf(
  tx: Tx,
  { ids, author }: { ids: readonly string[]; author: string },
): Promise<(FileEntry & { head: string })[]> {
  if (ids.length === 0) return []
  const rows = await tx
    .selectFrom('files')
    .select(['id', 'name', 'size'])
    .select(({ fn, val }) => [
      fn<number>('length', ['text']).as('characters'),
      fn<string>('substr', ['text', val(1), val(LONGEST_FILE_HEAD)]).as('head'),
    ])
    .where('id', 'in', [...ids])
    .where('author', '=', author)
    .execute()
  return ids.map(id => {
    const row = rows.find(one => one.id === id)
    if (row) return row
    throw new HubError(
      'not_found',
      `${id} is no file of ${author}, or it is too old: send it to /files again.`,
    )
  })
}

/** Notes the message that files belong to. Throws `conflict` for one that has a message. */
export async function attachFiles(
  tx: Tx,
  ids: readonly string[],
  { conversation, id }: { conversation: string; id: string },
): Promise<void> {
  if (ids.length === 0) return
  const place = { conversation_id: conversation, message_id: id }
  const { numUpdatedRows } = await tx
    .updateTable('files')
    .set(place)
    .where('id', 'in', [...ids])
    .where('message_id', 'is', null)
    .executeTakeFirstOrThrow()
  if (Number(numUpdatedRows) < new Set(ids).size)
    throw new HubError('conflict', 'A file was sent with another message already: send it to /files again.')
}

/** Returns a file's text, without the file. */
export function readFileText(db: Kysely<Tables>, id: string) {
  const columns = ['name', 'text', 'conversation_id'] as const
  return db.selectFrom('files').select(columns).where('id', '=', id).executeTakeFirst()
}

export function findFile(db: Kysely<Tables>, id: string) {
  return db.selectFrom('files').selectAll().where('id', '=', id).executeTakeFirst()
}
