import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { messageButtons } from '../../../schemas/message-buttons.ts'
import type { Failure } from '../../kit/failure.ts'
import { type Picture, severity } from '../message.ts'
import { toPictureName } from '../text/picture.ts'

/**
 * `waiting`: accepted. `held`: by quiet hours, by the channel's rate limit, or because the upstream asked to
 * wait. `sending`: it is being tried. `retrying`: a try failed. `sent` and `failed` are
 * final.
 */
export const STATUSES = ['waiting', 'held', 'sending', 'retrying', 'sent', 'failed'] as const
export const status = z.enum(STATUSES)
export type Status = z.infer<typeof status>

export const hold = z.enum(['quiet', 'rate', 'upstream'])
export type Hold = z.infer<typeof hold>

const failure = z.object({
  kind: z.string().optional(),
  what: z.string(),
  where: z.string(),
  why: z.string(),
  fix: z.string(),
})
export type RowFailure = Failure & { kind?: string | undefined }

/** One message on one channel, as it is stored. Times are unix milliseconds. */
const row = z.object({
  seq: z.number(),
  id: z.string(),
  channel: z.string(),
  title: z.string().nullable(),
  text: z.string(),
  severity,
  image: z.instanceof(Uint8Array).nullable(),
  image_type: z.string().nullable(),
  image_url: z.string().nullable(),
  /** Deleted once the message is finished, since they hold keys. */
  buttons: z
    .string()
    .nullable()
    .transform(text => (text === null ? [] : messageButtons.parse(JSON.parse(text)))),
  /** Number of equal messages that came within the channel's window and were not sent. */
  repeats: z.number(),
  status,
  hold: hold.nullable(),
  /** The id of the batch's first message; rows with the same batch are sent as one message. */
  batch: z.string().nullable(),
  attempts: z.number(),
  /** 1 if the last try may have arrived. */
  doubtful: z.number(),
  /** Unix milliseconds of its next work; null when it is finished. */
  due: z.number().nullable(),
  created_at: z.number(),
  tried_at: z.number().nullable(),
  finished_at: z.number().nullable(),
  failure: z
    .string()
    .nullable()
    .transform(text => (text === null ? undefined : (failure.parse(JSON.parse(text)) as RowFailure))),
  upstream_id: z.string().nullable(),
  notes: z.string().transform(text => z.array(z.string()).parse(JSON.parse(text))),
  /** The id of the earlier message whose place it takes. */
  replaces: z.string().nullable(),
})
export type Row = z.output<typeof row>

const COLUMNS = Object.keys(row.shape)
const WITHOUT_IMAGE = COLUMNS.map(name => (name === 'image' ? 'null as image' : name))

/** Reads the messages that fit a condition in SQL, which may end with an order and a limit. */
export function readRows(database: Database, condition: string, ...values: readonly unknown[]): Row[] {
  return select(database, COLUMNS, condition, values)
}

/** Reads messages as `readRows` does, without their images. */
export function readReceipts(database: Database, condition: string, ...values: readonly unknown[]): Row[] {
  return select(database, WITHOUT_IMAGE, condition, values)
}

function select(
  database: Database,
  columns: readonly string[],
  condition: string,
  values: readonly unknown[],
): Row[] {
  const query = database.prepare(`select ${columns.join(', ')} from messages where ${condition}`)
  return query.all(...values).map(found => row.parse(found))
}

/** Returns the row's picture in the form that senders take. */
export function toPicture({ image, image_type: mimeType, image_url: url }: Row): Picture | undefined {
  if (url !== null) return { kind: 'url', url }
  if (image === null || mimeType === null) return undefined
  return { kind: 'bytes', bytes: Uint8Array.from(image), mimeType, name: toPictureName(mimeType) }
}
