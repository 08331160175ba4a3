import { z } from 'zod'
import { eventWanted } from './inbox.ts'
import { conversationId, name } from './names.ts'

/** The parts of a server's entry that the hub knows; other keys of other programs are allowed and warned of. */
export const serverEntry = z.looseObject({
  command: z.string().min(1).optional().describe('the program to start; it speaks MCP over stdio'),
  args: z.array(z.string()).optional().describe('its arguments'),
  env: z.record(z.string(), z.string()).optional().describe('added to its environment'),
  cwd: z.string().optional().describe('the folder it starts in'),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('where a running server listens (Streamable HTTP)'),
  headers: z.record(z.string(), z.string()).optional().describe('sent with every request to url'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}$/, 'must be letters, digits, _ and -, at most 32')
    .optional()
    .describe('in front of its tools\' names; default "<server>__", "" for none'),
  type: z.string().optional().describe('accepted and not needed: command or url say it'),
})
export type ServerEntry = z.infer<typeof serverEntry>

export const KNOWN_ENTRY_KEYS: ReadonlySet<string> = new Set(Object.keys(serverEntry.shape))

const timezone = z.string().refine(isTimezone, 'is not an IANA time zone such as Europe/Berlin')

const modelEntry = z
  .strictObject({
    baseUrl: z.url({ protocol: /^https?$/ }).describe('of the OpenAI-compatible API, with its /v1'),
    apiKey: z.string().optional(),
    model: z.string().min(1),
    context: z.int().min(2048).default(32_768).describe('tokens of request and reply together'),
    maxOutput: z
      .int()
      .min(64)
      .optional()
      .describe('tokens of one reply; default the smaller of 4096 and context / 4'),
  })
  .refine(({ maxOutput = 0, context }) => maxOutput <= context / 2, {
    path: ['maxOutput'],
    error: 'must be at most half of context, or nothing could be asked',
  })

const servers = z.record(name, z.union([z.literal(false), serverEntry]))

/** `superbloom.yaml`. Unknown keys are errors. */
export const configFile = z.strictObject({
  timezone: timezone.optional().describe("of schedules; default the system's"),
  hosts: z.array(z.string().min(1)).default([]).describe('names that the hub answers to, besides loopback'),
  model: z.strictObject({ default: modelEntry }).optional(),
  concurrency: z.int().min(1).max(256).default(8).describe('cycles at once over all agents'),
  servers: servers.optional().describe('MCP servers by name; false switches a built-in one off'),
  mcpServers: servers.optional().describe('another name for servers'),
})
export type ConfigFile = z.infer<typeof configFile>

/** The front matter of `agents/<name>.md`. Unknown keys are errors. */
export const agentFile = z.strictObject({
  description: z.string().default(''),
  tools: z.array(z.string().min(1)).default(['*']).describe('globs over tools; "!glob" takes away'),
  events: z.array(eventWanted).default([]).describe('event types that wake its main thread'),
  schedules: z
    .array(
      z.strictObject({
        cron: z.string().min(1),
        timezone: timezone.optional(),
        reason: z.string().min(1),
      }),
    )
    .default([]),
  limits: z
    .strictObject({
      steps: z.int().min(1).max(1000).default(30).describe('calls of the model in one cycle'),
      minutes: z.number().positive().max(1440).default(10).describe('one cycle may take'),
    })
    .prefault({}),
  conversations: z.array(conversationId).min(1).optional().describe('default: one named like the agent'),
})
export type AgentFile = z.infer<typeof agentFile>

function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
