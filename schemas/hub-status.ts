import { z } from 'zod'
import { upstreamHealth } from './health.ts'
import { TOOL_CLASSES } from './power.ts'
import { PROVIDER_NAMES } from './providers.ts'

const toolClass = z.enum(TOOL_CLASSES)

const changedTool = z.object({
  name: z.string().describe('as its server writes it'),
  what: z
    .array(z.enum(['title', 'description', 'inputSchema', 'annotations']))
    .describe('what differs now; empty where it is as before again, but was more dangerous meanwhile'),
  rise: z
    .object({ from: toolClass, to: toolClass })
    .optional()
    .describe('of a tool that became more dangerous: each call asks until a person accepts it'),
})
export type ChangedTool = z.infer<typeof changedTool>

const server = z.object({
  name: z.string(),
  state: z
    .enum(['starting', 'ready', 'degraded', 'down', 'disabled', 'replaced', 'not_running'])
    .describe(
      'degraded: connected, but a list of it cannot be read or its calls get no answer; replaced: the config or a dropped-in server has its place',
    ),
  origin: z.enum(['built-in', 'config', 'drop-in']),
  transport: z.enum(['stdio', 'http', 'sse']).optional(),
  era: z.enum(['legacy', 'modern']).optional(),
  tools: z.int(),
  writtenAs: z.string().optional().describe('its name in the config or of its folder, where that is no name'),
  sessions: z.int().optional().describe('that have a connection of their own, of an isolated server'),
  uncontained: z.string().optional().describe('why it runs without the sandbox that it should have'),
  error: z.string().optional(),
  nextTryAt: z.number().optional().describe('unix milliseconds'),
  collisions: z.array(z.string()).optional(),
  leftOut: z
    .array(z.string())
    .optional()
    .describe('what it lists that clients would refuse, with why: nobody sees that'),
  changedTools: z
    .array(changedTool)
    .optional()
    .describe('not as they were when a person accepted them, or first seen'),
  upstreams: z
    .array(upstreamHealth)
    .optional()
    .describe('the programs behind it, where health was asked for'),
})

const used = z.object({ used: z.number(), limit: z.number().optional() })

/** The present day's use, with its limits. */
export const budgets = z.object({
  day: z.string().describe("of the config's time zone"),
  currency: z.string().optional(),
  tokens: used,
  money: used,
  agents: z.array(z.object({ name: z.string(), tokens: used, money: used, wakes: used })),
  days: z
    .array(
      z.object({
        day: z.string(),
        tokens: z.number(),
        money: z.number(),
        agents: z.array(z.object({ name: z.string(), tokens: z.number(), money: z.number() })),
      }),
    )
    .describe('the last two weeks, the newest first; without days that used nothing'),
})
export type Budgets = z.infer<typeof budgets>

const provider = z.object({
  name: z.string(),
  baseUrl: z.string().optional(),
  state: z
    .enum(['ok', 'down', 'trying'])
    .describe('down: nobody asks it until retryAt; trying: one call finds out'),
  retryAt: z.number().optional().describe('unix milliseconds'),
  error: z.string().optional(),
})

const quirk = z.object({
  model: z.string(),
  what: z.string().describe("in words that follow the model's name"),
  since: z.number().describe('unix milliseconds'),
  tools: z.array(z.string()).readonly().optional().describe('those that it does not take'),
})

/** The result of `hub_status`. */
export const hubStatus = z.object({
  hub: z.object({
    name: z.string(),
    version: z.string(),
    startedAt: z.number(),
    uptimeMs: z.number(),
    configFile: z.string().optional().describe('the one that it watches, whether it exists or not'),
  }),
  model: z.object({
    kind: z.enum(['commands', ...PROVIDER_NAMES]).describe('the built-in commands, or whose API it is'),
    name: z.string(),
    baseUrl: z.string().optional(),
    health: z.array(provider).describe('the model and its fallbacks, in order, then other models'),
    quirks: z
      .array(quirk)
      .describe('changes without which a provider refuses requests; forgotten after a week'),
    parked: z.int().describe('cycles that wait until a provider answers'),
  }),
  deadLetters: z.object({ open: z.int() }),
  held: z
    .object({ since: z.number(), until: z.number() })
    .optional()
    .describe('no agent runs, after a crash loop; unix milliseconds'),
  serversDown: z
    .array(z.object({ name: z.string(), since: z.number() }))
    .describe('servers that have been down for over 10 minutes'),
  servers: z.array(server),
  queues: z.object({
    waiting: z.int().describe('inbox items'),
    busy: z.int().describe('cycles'),
    approvals: z.int().describe('calls that wait for a yes'),
    agents: z.array(
      z.object({
        name: z.string(),
        waiting: z.int(),
        oldestAt: z.number().optional().describe('unix milliseconds'),
      }),
    ),
  }),
  budgets,
  store: z.object({ kind: z.string(), bytes: z.number() }),
  problems: z.array(z.string()).describe('of the config and of agent files'),
})
export type HubStatus = z.infer<typeof hubStatus>
