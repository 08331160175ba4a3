import { z } from 'zod'
import { conversationId, name } from './names.ts'

const id = z
  .string('must be an id of Discord in quotes: a number without them is rounded')
  .regex(/^\d{17,20}$/, 'must be an id of Discord: 17 to 20 digits')

/** The bot of a Discord application, and who may do what with it. */
const discord = z.strictObject({
  token: z.string().min(1).describe("the bot's token"),
  owner: id.describe('your own user id; without the lists below nobody else is heard'),
  channels: z
    .record(id, conversationId)
    .default({})
    .refine(channels => new Set(Object.values(channels)).size === Object.keys(channels).length, {
      error: 'two channels cannot have one conversation: a reply would not know where to go',
    })
    .describe('a conversation, or an agent, for each channel id; every message there is for it'),
  agent: name
    .optional()
    .describe('who answers direct messages, and mentions elsewhere; default homelab, else the first'),
  talk: z.array(id).default([]).describe('ids of users and roles that talk with agents as members do'),
  approve: z
    .array(id)
    .default([])
    .describe('ids of users and roles that answer approvals, besides the owner'),
  strangers: z
    .enum(['ignore', 'guests'])
    .default('ignore')
    .describe('everybody else: no answer, or the power of a guest with shared agents'),
  api: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("another server with Discord's API; default https://discord.com/api"),
})
export type DiscordSettings = z.infer<typeof discord>

export const channels = z
  .strictObject({ discord: discord.optional().describe('a bot on Discord; default off') })
  .prefault({})
