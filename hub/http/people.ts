import type { Kysely } from 'kysely'
import type { ListedPerson } from '../../schemas/tokens.ts'
import { HubError } from '../core/errors.ts'
import { isOwn } from '../core/principal.ts'
import { hasWritten, listConversations } from '../store/conversations.ts'
import type { Tables } from '../store/tables.ts'
import { readPeople, readPersonTitles } from '../store/tokens.ts'

/** Lists the people who may sign in. */
export async function listPeople(db: Kysely<Tables>): Promise<ListedPerson[]> {
  const titles = await readPersonTitles(db)
  return (await readPeople(db)).map(({ name, role, created_at }) => {
    const title = titles.get(name)
    return { name, ...(title === undefined ? {} : { title }), role, createdAt: created_at }
  })
}

/** Throws `conflict` where what others said would open to a new person of this name. */
export async function checkConversations(db: Kysely<Tables>, name: string): Promise<void> {
  for (const { id } of await listConversations(db)) {
    // Somebody who was locked out comes back to what they said.
    if (!isOwn({ name }, id) || (await hasWritten(db, id, name))) continue
    throw new HubError(
      'conflict',
      `What was said in ${id} would be ${name}'s to read: give another name, or delete that conversation first.`,
    )
  }
}

/** Returns the written name of a person to show. Throws `conflict` where a known person of the name is written otherwise. */
export async function decideTitle(
  db: Kysely<Tables>,
  { name, title }: { name: string; title: string },
  isKnown: boolean,
): Promise<string> {
  const before = isKnown ? ((await readPersonTitles(db)).get(name) ?? name) : title
  if (![name, before].some(each => each.toLowerCase() === title.toLowerCase()))
    throw new HubError('conflict', `${before} writes as ${name} already; ${title} needs another name.`)
  return title === name ? before : title
}
