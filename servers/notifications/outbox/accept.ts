import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import type { MessageButton } from '../../../schemas/message-buttons.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { describeError } from '../../kit/log.ts'
import { toByteText, toCountText } from '../../kit/text.ts'
import type { ChannelConfig } from '../config/channel-entry.ts'
import type { Picture, Severity } from '../message.ts'
import { readReceipts } from './row.ts'

const MAX_WAITING = 1000
const MAX_PICTURE_BYTES = 200 * 1024 * 1024
const KEPT_REQUESTS = 7 * 86_400_000

export interface Accepted {
  channels: readonly ChannelConfig[]
  title: string | undefined
  text: string
  severity: Severity
  picture: Picture | undefined
  buttons: readonly MessageButton[]
  /** The key that makes messages duplicates; default: their words. */
  key: string | undefined
  /** A repeated key returns the first answer and sends nothing. */
  idempotencyKey: string | undefined
  now: number
}

/** The outcome of accepting a message on one channel. */
const ticket = z.object({
  /** The message's id; a duplicate has the id of the earlier message. */
  id: z.string(),
  isDuplicate: z.boolean(),
})
const answer = z.object({ request: z.string(), tickets: z.array(ticket) })
export type Answer = z.infer<typeof answer>

/**
 * Commits a message for each channel, unless that channel has just accepted the same one. Throws ToolFailure.
 */
export function accept(database: Database, given: Accepted, newId: () => string): Answer {
  try {
    return commit(database, given, newId)
  } catch (error) {
    if (error instanceof ToolFailure) throw error
    throw new ToolFailure(
      {
        what: 'Nothing was sent: the notification could not be stored.',
        where: database.name,
        why: describeError(error),
        fix: 'Look whether the disk is full or the file is locked by another program, then send it again.',
      },
      { cause: error },
    )
  }
}

function commit(database: Database, given: Accepted, newId: () => string): Answer {
  return database
    .transaction(() => {
      const known = findRequest(database, given.idempotencyKey)
      if (known) return known
      requireRoom(database, given.picture)
      const request = newId()
      const tickets = given.channels.map(channel => {
        const same = findSame(database, channel, given)
        if (same?.isRecent) {
          database.prepare('update messages set repeats = repeats + 1 where id = ?').run(same.id)
          return { id: same.id, isDuplicate: true }
        }
        return {
          id: insert(database, given, { id: newId(), request, channel, missed: same?.repeats ?? 0 }),
          isDuplicate: false,
        }
      })
      if (given.idempotencyKey !== undefined)
        remember(database, given.idempotencyKey, { request, tickets }, given.now)
      return { request, tickets }
    })
    .immediate()
}

function findRequest(database: Database, key: string | undefined): Answer | undefined {
  if (key === undefined) return undefined
  const found = database.prepare('select answer from requests where key = ?').pluck().get(key)
  return typeof found === 'string' ? answer.parse(JSON.parse(found)) : undefined
}

function remember(database: Database, key: string, value: Answer, now: number): void {
  database.prepare('delete from requests where at < ?').run(now - KEPT_REQUESTS)
  database
    .prepare('insert into requests (key, answer, at) values (?, ?, ?)')
    .run(key, JSON.stringify(value), now)
}

/** Finds the channel's last equal message that did not fail. */
function findSame(database: Database, { name, rules }: ChannelConfig, given: Accepted) {
  const condition = "channel = ? and dedupe = ? and status <> 'failed' order by seq desc limit 1"
  const [found] = readReceipts(database, condition, name, toDedupe(given))
  return found && { ...found, isRecent: found.created_at > given.now - rules.dedupe }
}

export function toDedupe({ key, title, text, severity, picture }: Accepted): string {
  const image = picture?.kind === 'bytes' ? Buffer.from(picture.bytes).toString('base64') : picture?.url
  const same = key === undefined ? ['text', title ?? '', text, severity, image ?? ''] : ['key', key]
  return createHash('sha256').update(JSON.stringify(same)).digest('base64url')
}

export function insert(
  database: Database,
  given: Accepted,
  row: { id: string; request: string; channel: ChannelConfig; missed: number; replaces?: string },
): string {
  const { title, text, severity, picture, buttons, now } = given
  const missed =
    row.missed > 0 ? `\n\n(${row.missed} more like this came since the last and were not sent.)` : ''
  const bytes = picture?.kind === 'bytes' ? picture : undefined
  database
    .prepare(
      `insert into messages
         (id, request, channel, title, text, severity, image, image_type, image_url, buttons, dedupe, status, due, created_at,
          replaces)
       values (@id, @request, @channel, @title, @text, @severity, @image, @type, @url, @buttons, @dedupe, 'waiting', @now, @now,
         @replaces)`,
    )
    .run({
      id: row.id,
      request: row.request,
      channel: row.channel.name,
      title: title ?? null,
      text: `${text}${missed}`,
      severity,
      image: bytes ? Buffer.from(bytes.bytes) : null,
      type: bytes?.mimeType ?? null,
      url: picture?.kind === 'url' ? picture.url : null,
      buttons: row.channel.kind.hasButtons && buttons.length > 0 ? JSON.stringify(buttons) : null,
      dedupe: toDedupe(given),
      now,
      replaces: row.replaces ?? null,
    })
  return row.id
}

const load = z.object({ waiting: z.number(), bytes: z.number().nullable() })

/** Throws when the outbox is full: without a limit it would fill the disk while an upstream is away. */
function requireRoom(database: Database, picture: Picture | undefined): void {
  const { waiting, bytes } = load.parse(
    database
      .prepare('select count(*) as waiting, sum(length(image)) as bytes from messages where due is not null')
      .get(),
  )
  const isFull = waiting >= MAX_WAITING
  if (!isFull && (picture?.kind !== 'bytes' || (bytes ?? 0) < MAX_PICTURE_BYTES)) return
  throw new ToolFailure({
    what: 'Nothing was sent: the outbox is full.',
    where: 'the outbox',
    why: isFull
      ? `${toCountText(waiting, 'message')} wait already`
      : `images of ${toByteText(bytes ?? 0)} wait already`,
    fix: `${isFull ? '' : 'Send it without the image. '}get_notification_history shows what waits and why; mend that channel.`,
  })
}
