import { z } from 'zod'
import type { Failure } from '../../kit/failure.ts'
import { type Picture, severity } from '../message.ts'
import { toPictureName } from '../text/picture.ts'

/**
 * `waiting`: accepted. `held`: by quiet hours, by the channel's rate limit, or because the upstream asked to wait.
 * `sending`: a process tries it until `due`. `retrying`: a try failed. The last two are final.
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
  /** How many equal ones came within the channel's window and were not sent. */
  repeats: z.number(),
  status,
  hold: hold.nullable(),
  /** Those with the same go out as one: the id of their first. */
  batch: z.string().nullable(),
  attempts: z.number(),
  /** 1: nobody knows whether the last try arrived. */
  doubtful: z.number(),
  /** When there is something to do for it; null once it is done with. */
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
})
export type Row = z.output<typeof row>

/** Parses what the database gave. */
export function toRow(value: unknown): Row {
  return row.parse(value)
}

/** The row's picture, as senders take it. */
export function toPicture({ image, image_type: mimeType, image_url: url }: Row): Picture | undefined {
  if (url !== null) return { kind: 'url', url }
  if (image === null || mimeType === null) return undefined
  return { kind: 'bytes', bytes: Uint8Array.from(image), mimeType, name: toPictureName(mimeType) }
}
