import { z } from 'zod'

export const MOST_FOUND = 20

/** Arguments of a search of the history. */
export const searchWords = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(500)
    .describe('words to find; the last may be the beginning of one. Nothing has to be quoted'),
  since: z.string().optional().describe('ISO 8601'),
  until: z.string().optional().describe('ISO 8601'),
  timeframe: z
    .string()
    .max(50)
    .optional()
    .describe('in place of since and until: 24h, 7d, today, yesterday, this week, last week'),
  limit: z.int().min(1).max(MOST_FOUND).default(5).describe('sessions'),
})

/** A part of a thread's history in which the search found something. */
export const foundSession = z.object({
  session: z.object({
    thread: z.string(),
    number: z.int(),
    startedAt: z.number().describe('unix milliseconds'),
    endedAt: z.number(),
    messages: z.int(),
    tokens: z.int(),
    reason: z
      .enum(['compaction', 'idle', 'reset', 'ended', 'open'])
      .describe('why it ended; open: it is still in the window'),
    summary: z.string().describe('empty for an open one'),
  }),
  snippets: z.array(
    z.object({
      at: z.number(),
      role: z.enum(['user', 'assistant', 'tool']),
      text: z.string(),
    }),
  ),
})
export type FoundSession = z.infer<typeof foundSession>
