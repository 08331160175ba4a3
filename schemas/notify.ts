import { z } from 'zod'

const notifiedOf = z.enum(['approvals', 'reminders', 'failures'])
/**
 * Kinds of notifications: approvals and questions that wait, messages that an agent sends without being asked, and
 * failures.
 */
export type NotifiedOf = z.infer<typeof notifiedOf>

/** The channel that is the owner's browsers. */
export const PAGE_CHANNEL = 'page'

/** Where the owner is notified of what waits for a person. */
export const notify = z.strictObject({
  channel: z
    .string()
    .trim()
    .min(1)
    .describe(
      `a channel of the notifications server, or ${PAGE_CHANNEL}: browsers in which the owner switched it on`,
    ),
  about: z
    .array(notifiedOf)
    .min(1)
    .default(['approvals', 'reminders', 'failures'])
    .describe('what is told of'),
  private: z
    .boolean()
    .default(false)
    .describe('true: nobody but the owner reads the channel, so its messages may have buttons that approve'),
})
export type NotifySettings = z.infer<typeof notify>
