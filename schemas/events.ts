import { z } from 'zod'

/** One event as a server's `events://<server>` resource lists it. Times are unix milliseconds. */
export const serverEvent = z.object({
  id: z.string().min(1).max(200),
  seq: z.int().nonnegative(),
  type: z.string().min(1).max(100),
  key: z.string().max(500).optional(),
  payload: z.record(z.string(), z.unknown()).default({}),
  at: z.number(),
})
export type ServerEvent = z.infer<typeof serverEvent>

/**
 * The text of the resource: events after the asked cursor. A new `stream` id means that the server
 * restarted and counts from 0 again.
 */
export const eventFeed = z.object({
  stream: z.string().min(1).max(200),
  cursor: z.int().nonnegative(),
  events: z.array(serverEvent).max(10_000),
})
export type EventFeed = z.infer<typeof eventFeed>

const percentHigh = z.object({
  host: z.string(),
  percent: z.number().describe('0 to 100'),
  threshold: z.number().describe('0 to 100'),
})

/** The payloads of the events that the built-in servers raise, by type. */
export const eventPayloads = {
  cpu_high: percentHigh,
  memory_high: percentHigh,
  disk_high: percentHigh.extend({ mount: z.string() }),
  temp_high: z.object({
    host: z.string(),
    sensor: z.string(),
    temp: z.number().describe('degrees Celsius'),
    threshold: z.number().describe('degrees Celsius'),
  }),
} as const
export type EventType = keyof typeof eventPayloads
export type EventPayload<Type extends EventType> = z.infer<(typeof eventPayloads)[Type]>
