import { z } from 'zod'
import type { NewEvent } from './inbox.ts'

/** A hook's name, as in `/hooks/<name>` and `webhook.<name>`. */
export const hookName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must be lower-case letters, digits, _ and -, at most 64, the first no sign',
  )

/** The config of one hook. */
const hookEntry = z.strictObject({
  secret: z
    .string()
    .min(16, 'must be at least 16 characters, so that nobody guesses it: take random ones')
    .optional()
    .describe("lets its sender in, besides the hub's token; without it only the token does"),
  trusted: z
    .boolean()
    .default(false)
    .describe("true: what it sends has the power of the house's own routine, not of a stranger"),
})

/** The config of all hooks. */
export const webhooks = z
  .record(hookName, hookEntry)
  .default({})
  .describe('secrets of those who send to /hooks/<name>, by its name')

const texts = z.record(z.string(), z.string())

/** One alert of Alertmanager's webhook, version 4. */
const alert = z.looseObject({
  status: z.enum(['firing', 'resolved']),
  labels: texts,
  startsAt: z.string().optional(),
  /** Fingerprint of the labels; older versions send none. */
  fingerprint: z.string().min(1).optional(),
})
export type Alert = z.infer<typeof alert>

/** A notification of Alertmanager: a group of alerts. */
export const alertmanagerBody = z.looseObject({ alerts: z.array(alert).min(1) })

const numbered = z.looseObject({ id: z.int() })

/** The body of Radarr's and Sonarr's webhook. `type` names the check of a `Health` event. */
export const arrBody = z.looseObject({
  eventType: z.string().min(1).max(100),
  movie: numbered.optional(),
  series: numbered.optional(),
  episodes: z.array(numbered).optional(),
  type: z.string().max(100).optional(),
})

/** The body of Jellyfin's webhook plugin, which is set to send all properties. */
export const jellyfinBody = z.looseObject({
  NotificationType: z.string().min(1).max(100),
  ItemId: z.string().max(100).optional(),
})

/**
 * Identity of a delivery, by which a repeated one is recognised: its sender's id or, for `within`
 * milliseconds, its content, where the newest delivery about the subject had the same state.
 */
export type Once =
  | { kind: 'id'; id: string }
  | { kind: 'content'; subject: string; state: string; within: number }

/** An event that a webhook delivered. */
export interface HookEvent extends Omit<NewEvent, 'externalId'> {
  once: Once
}

/** The event's destination. `repeated`: the event was there already, and `status` is that one's. */
export interface HookOutcome {
  id: string
  status: 'pending' | 'processing' | 'handled' | 'ignored' | 'held'
  repeated?: true
}
