import { z } from 'zod'

/** An event as a server's `events://<server>` resource lists it. Times are unix milliseconds. */
export const serverEvent = z.object({
  id: z.string().min(1).max(200),
  seq: z.int().nonnegative(),
  type: z.string().min(1).max(100),
  key: z.string().max(500).optional(),
  /** An object; anything else becomes its `value`. */
  payload: z
    .union([
      z.record(z.string(), z.unknown()),
      z.unknown().transform((value): Record<string, unknown> => ({ value })),
    ])
    .default({}),
  at: z.number(),
})
export type ServerEvent = z.infer<typeof serverEvent>

/** Most events in one answer; a feed with more sets its cursor to the last one that it sent. */
export const EVENTS_AT_ONCE = 100

/**
 * The text of the resource: the events after the requested cursor. A new `stream` id means that the server
 * restarted and counts from 0 again.
 */
export const eventFeed = z.object({
  stream: z.string().min(1).max(200),
  cursor: z.int().nonnegative(),
  events: z.array(serverEvent).max(10_000),
})
export type EventFeed = z.infer<typeof eventFeed>

/** Fields that every payload may add: its text for people, and units for models that misread bare figures. */
const inWords = {
  text: z.string().optional().describe('one line that says it, with units'),
  units: z.record(z.string(), z.string()).optional().describe('of the figures, by the name of the field'),
}

const percentHigh = z.object({
  ...inWords,
  host: z.string(),
  percent: z.number().describe('0 to 100'),
  threshold: z.number().describe('0 to 100'),
})

const players = z.object({
  ...inWords,
  server: z.string(),
  playerCount: z.int().describe('players now'),
  names: z.array(z.string()).optional().describe('who came or left, where the game tells'),
})

const download = z.object({
  ...inWords,
  client: z.string(),
  name: z.string(),
  size: z.number().describe('bytes'),
  category: z.string().optional(),
  reason: z.string().optional().describe('why it failed'),
})

/** Payloads of the events that the built-in servers emit, by type. */
export const eventPayloads = {
  cpu_high: percentHigh,
  memory_high: percentHigh,
  disk_high: percentHigh.extend({
    mount: z.string(),
    free: z.number().optional().describe('bytes'),
  }),
  temp_high: z.object({
    ...inWords,
    host: z.string(),
    sensor: z.string(),
    temp: z.number().describe('degrees Celsius'),
    threshold: z.number().describe('degrees Celsius'),
  }),
  server_empty: z.object({
    ...inWords,
    server: z.string(),
    previousCount: z.int().describe('players before'),
  }),
  player_joined: players,
  player_left: players,
  server_crash: z.object({
    ...inWords,
    server: z.string(),
    exitCode: z.int().optional(),
    oom: z.boolean().optional().describe('true: it was ended for using too much memory'),
    container: z.string().optional().describe('its container, where it runs in one'),
    loop: z.literal(true).optional().describe('it crashes again and again'),
    count: z.int().optional().describe('crashes within the last ten minutes, where it is a loop'),
  }),
  download_complete: download,
  download_failed: download,
  disk_full_warning: z.object({
    ...inWords,
    client: z.string(),
    free: z.number().describe('bytes'),
    needed: z.number().optional().describe('bytes that the queue still needs'),
  }),
  transcode_started: z.object({
    ...inWords,
    user: z.string(),
    title: z.string(),
    device: z.string(),
    reason: z.string(),
  }),
  media_added: z.object({ ...inWords, title: z.string(), type: z.string(), library: z.string() }),
  container_unhealthy: z.object({ ...inWords, name: z.string(), status: z.string(), restarts: z.int() }),
} as const
export type EventType = keyof typeof eventPayloads
export type EventPayload<Type extends EventType> = z.infer<(typeof eventPayloads)[Type]>
