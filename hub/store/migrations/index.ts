import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { HubError } from '../../core/errors.ts'
import type { Dialect } from '../dialect.ts'
import { up as start } from './001-start.ts'
import { up as durableAgents } from './002-durable-agents.ts'
import { up as eventFeed } from './003-event-feed.ts'
import { up as questions } from './004-questions.ts'
import { up as unanswered } from './005-unanswered.ts'
import { up as eventReleases } from './006-event-releases.ts'
import { up as taskResults } from './007-task-results.ts'
import { up as approvalLeases } from './008-approval-leases.ts'
import { up as powers } from './009-powers.ts'
import { up as toolPins } from './010-tool-pins.ts'
import { up as tokens } from './011-tokens.ts'
import { up as audit } from './012-audit.ts'
import { up as oauth } from './013-oauth.ts'
import { up as auditEnd } from './014-audit-end.ts'
import { up as notifications } from './015-notifications.ts'
import { up as titles } from './016-titles.ts'
import { up as approvalNumbers } from './017-approval-numbers.ts'
import { up as pushSubscriptions } from './018-push-subscriptions.ts'
import { up as files } from './019-files.ts'
import { up as serverLogins } from './020-server-logins.ts'
import { up as listsAtSize } from './021-lists-at-size.ts'

type Up = (db: Kysely<unknown>, dialect: Dialect) => Promise<void>

/** The migrations in order; append only. */
export const migrations: readonly { name: string; up: Up }[] = [
  { name: '001-start', up: start },
  { name: '002-durable-agents', up: durableAgents },
  { name: '003-event-feed', up: eventFeed },
  { name: '004-questions', up: questions },
  { name: '005-unanswered', up: unanswered },
  { name: '006-event-releases', up: eventReleases },
  { name: '007-task-results', up: taskResults },
  { name: '008-approval-leases', up: approvalLeases },
  { name: '009-powers', up: powers },
  { name: '010-tool-pins', up: toolPins },
  { name: '011-tokens', up: tokens },
  { name: '012-audit', up: audit },
  { name: '013-oauth', up: oauth },
  { name: '014-audit-end', up: auditEnd },
  { name: '015-notifications', up: notifications },
  { name: '016-titles', up: titles },
  { name: '017-approval-numbers', up: approvalNumbers },
  { name: '018-push-subscriptions', up: pushSubscriptions },
  { name: '019-files', up: files },
  { name: '020-server-logins', up: serverLogins },
  { name: '021-lists-at-size', up: listsAtSize },
]

/**
 * Returns the first migration that a database lacks, by those that it has; undefined if it is up to date. Throws
 * `conflict` if a later version of the program wrote it.
 */
export function missingMigration(applied: readonly string[], where: string): string | undefined {
  const known = new Set(migrations.map(({ name }) => name))
  const newer = applied.find(name => !known.has(name))
  if (newer === undefined) return migrations.find(({ name }) => !applied.includes(name))?.name
  throw new HubError(
    'conflict',
    `A newer version of Superbloom wrote ${where} (its migration ${newer} is not known here). Start that version, or restore a backup that this one can read: superbloom restore FILE.`,
  )
}

/** Brings the schema of a database up to date. Throws, with the migration's name, if one fails. */
export async function migrate<Database>(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  const known = migrations.map(({ name, up }) => [
    name,
    { up: (inner: Kysely<unknown>) => up(inner, dialect) },
  ])
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(known) },
    // The default sorts in a language's order, for which ICU's tables are loaded.
    nameComparator: (one, other) => (one < other ? -1 : 1),
  })
  const { error, results } = await migrator.migrateToLatest()
  if (!error) return
  const failed = results?.find(result => result.status === 'Error')
  throw new Error(`The store's migration ${failed?.migrationName ?? ''} failed`, { cause: error })
}
