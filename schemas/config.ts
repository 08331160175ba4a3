import { z } from 'zod'
import { authorization } from './authorization.ts'
import { channels } from './discord.ts'
import { limit } from './duration.ts'
import { dashboard } from './house.ts'
import { models, modelsOf } from './models.ts'
import { name, serverName, toServerNames } from './names.ts'
import { notify } from './notify.ts'
import { power } from './power.ts'
import { scalar } from './request-parts.ts'
import { isTimezone } from './timezone.ts'
import { tls } from './tls.ts'
import { globs, toolRules } from './tool-rules.ts'
import { webhooks } from './webhooks.ts'

/** A size of memory as Docker writes it. */
const memory = z.string().regex(/^[1-9]\d*[mg]$/, 'must be a size such as 512m or 2g')

/** Returns the bytes of a size such as `512m` or `2g`. */
export function memoryToBytes(size: string): number {
  return Number.parseInt(size, 10) * (size.endsWith('g') ? 1024 ** 3 : 1024 ** 2)
}

/** Tells whether a text is a host as URLs have it, without a port. */
const isHost = (given: string) => URL.parse(`http://${given}`)?.hostname === given.toLowerCase()

/** The hub's login at a server over HTTP (OAuth 2.1). Other programs' entries have more keys. */
const oauth = z
  .looseObject({
    grant: z
      .enum(['authorization_code', 'client_credentials'])
      .default('authorization_code')
      .describe('authorization_code: a person logs in; client_credentials: the client logs in by itself'),
    clientId: z
      .string()
      .min(1)
      .optional()
      .describe('of a client that is registered already, or the https address of its metadata document'),
    clientSecret: z.string().min(1).optional().describe('of that client'),
    scope: z.string().min(1).optional().describe('what to ask for; default what the server wants'),
    issuer: z.url().optional().describe('the only authorization server that may see the client'),
    hosts: z
      .array(z.string().refine(isHost, 'must be a host, such as auth.home.arpa or 192.168.1.10'))
      .optional()
      .describe('hosts in private networks that the login may lead to, besides those of url and issuer'),
  })
  .refine(
    ({ grant, clientId, clientSecret }) => grant !== 'client_credentials' || (clientId && clientSecret),
    {
      error: 'the grant client_credentials needs clientId and clientSecret',
    },
  )
export type OAuthEntry = z.infer<typeof oauth>

const variables = z
  .record(z.string(), scalar.nullable())
  .transform(
    (given): Record<string, string> =>
      Object.fromEntries(
        Object.entries(given).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
      ),
  )

/** A server's entry with the keys that the hub knows; other programs' keys are allowed with a warning. */
export const serverEntry = z.looseObject({
  command: z.string().min(1).optional().describe('the program to start; it speaks MCP over stdio'),
  args: z.array(scalar).optional().describe('its arguments'),
  env: variables.optional().describe('added to its environment'),
  envFile: z
    .string()
    .min(1)
    .optional()
    .describe('a file of NAME=value lines, added to its environment; env wins'),
  cwd: z.string().optional().describe('the folder it starts in'),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('where a running server listens (Streamable HTTP)'),
  headers: z.record(z.string(), scalar).optional().describe('sent with every request to url'),
  oauth: oauth.optional().describe('how to log in at url, where it asks for that'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}$/, 'must be letters, digits, _ and -, at most 32')
    .optional()
    .describe('in front of its tools\' names; default "<server>__", "" for none'),
  disabled: z.boolean().optional().describe('true: kept and listed, and not started'),
  tools: toolRules
    .optional()
    .describe('globs over its tools: `only` these, and `never` those, are in the hub'),
  timeout: limit.optional().describe('how long a call may take without a result or progress; default 120s'),
  connectTimeout: limit.optional().describe('how long connecting may take; default 30s'),
  memory: memory
    .optional()
    .describe(
      "how much its processes may use together; default 4g, at most half of the machine's (Linux only)",
    ),
  isolated: z.boolean().optional().describe('true: each client session gets a process of its own'),
  era: z
    .enum(['legacy', 'modern'])
    .optional()
    .describe(
      'which of the two eras of the protocol to speak with a server that speaks both; default what it prefers',
    ),
  // Gemini CLI has a flag of this name, which switches its questions off.
  trust: z
    .union([z.enum(['own', 'third']), z.boolean().transform(() => undefined)])
    .optional()
    .describe(
      'own: its events and its annotations count as yours; default third, own for the built-in servers',
    ),
  sampling: z
    .boolean()
    .optional()
    .describe("true: during an agent's call it may have the agent's model write for it; default false"),
  // YAML 1.1 reads off as false; other programs' settings of this name are objects.
  sandbox: z
    .union([
      z.enum(['auto', 'strict', 'off']),
      z.boolean().transform(on => (on ? 'auto' : 'off')),
      z.looseObject({}).transform(() => undefined),
    ])
    .optional()
    .describe(
      'hides the hub from its process; auto: where that works, and not with trust: own; strict: else it does not start',
    ),
  type: z.string().optional().describe('accepted and not needed: command or url say it'),
})
export type ServerEntry = z.infer<typeof serverEntry>

export const KNOWN_ENTRY_KEYS: ReadonlySet<string> = new Set([
  ...Object.keys(serverEntry.shape),
  ...Object.keys(oauth.shape).map(key => `oauth.${key}`),
])

export const timezone = z.string().refine(isTimezone, 'is not an IANA time zone such as Europe/Berlin')

/** A server's name as the file writes it; `toServerNames` converts it. */
const writtenName = z.string().superRefine((written, context) => {
  const checked = serverName.safeParse(toServerNames([written]).get(written))
  if (!checked.success) context.addIssue({ code: 'custom', message: checked.error.issues[0]?.message ?? '' })
})

const servers = z.record(writtenName, z.union([z.literal(false), serverEntry]))

/** The file `superbloom.yaml`. Unknown keys are errors. */
export const configFile = z
  .strictObject({
    timezone: timezone.optional().describe("of schedules; default the system's"),
    hosts: z.array(z.string().min(1)).default([]).describe('names that the hub answers to, besides loopback'),
    trustedProxies: z
      .array(
        z.union(
          [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
          'must be an address such as 127.0.0.1 or 172.16.0.0/12',
        ),
      )
      .default([])
      .describe('reverse proxies whose X-Forwarded-For is believed'),
    model: models.optional(),
    tools: z
      .strictObject({
        approve: globs
          .default([])
          .describe("globs over tools that need a person's yes when an agent calls them"),
        allow: z
          .array(z.strictObject({ tools: globs.min(1), power: power.default('routine') }))
          .default([])
          .describe(
            'tools that agents call without asking, in work of that power or a higher one; a destructive one only by its exact name',
          ),
        deny: globs.default([]).describe('globs over tools that agents may not call'),
        classes: z
          .strictObject({
            look: globs.optional(),
            change: globs.optional(),
            send: globs.optional(),
            destroy: globs.optional(),
          })
          .default({})
          .describe(
            'globs over tools by what they do, where their servers say less; more harmless only for servers with trust: own',
          ),
        rerun: globs.default([]).describe('globs over tools that are safe to repeat after a crash'),
        // Claude Code, Codex and Roo Code put the 17 characters `mcp__superbloom__` in front and refuse names
        // over 64; VS Code and Gemini CLI add 15, Cursor counts 10 of its 60.
        longestName: z
          .int()
          .min(32)
          .max(64)
          .default(47)
          .describe("characters of a tool's name; clients put up to 17 in front and refuse more than 64"),
      })
      .prefault({}),
    toolsets: z
      .record(name, globs.min(1))
      .default({})
      .describe('globs over tools by the name of a set, which is served at /mcp/<name>; "!glob" takes away'),
    budget: z
      .strictObject({
        tokensPerDay: z.int().positive().optional().describe('input and output of all agents together'),
        moneyPerDay: z.number().positive().optional().describe("in the prices' currency"),
      })
      .prefault({}),
    retention: z
      .strictObject({
        days: z.int().min(1).default(365).describe('older history and messages go'),
        fileDays: z.int().min(1).default(365).describe('older files of messages go'),
        auditDays: z.int().min(1).default(90).describe('older rows of the audit go'),
      })
      .prefault({}),
    webhooks,
    dashboard: dashboard.describe("further tools whose results the page's House shows"),
    channels: channels.describe('other programs in which people talk with agents'),
    notify: notify.optional().describe('tells the owner elsewhere what waits for a person; default off'),
    tls: tls.optional().describe('serves https in place of http'),
    authorization: authorization.optional().describe('sign-in of MCP clients with OAuth; default off'),
    concurrency: z.int().min(1).max(256).default(8).describe('cycles at once over all agents'),
    servers: servers.optional().describe('MCP servers by name; false switches a built-in one off'),
    mcpServers: servers.optional().describe('another name for servers'),
    inputs: z
      .array(z.looseObject({ id: z.string().min(1), default: z.unknown().optional() }))
      .optional()
      .describe(
        'as VS Code has them: what it asks a person comes from the environment, else from the default here',
      ),
  })
  .superRefine(({ model, budget }, context) => {
    const prices = modelsOf(model).map(({ price }) => price)
    if (budget.moneyPerDay !== undefined && (prices.length === 0 || prices.includes(undefined))) {
      const message = 'money cannot be limited without prices: give every model of this file its price'
      context.addIssue({ code: 'custom', path: ['budget', 'moneyPerDay'], message })
    }
    const currencies = new Set(prices.flatMap(price => (price ? [price.currency] : [])))
    if (currencies.size > 1) {
      const message = `prices are in ${[...currencies].join(' and ')}: give all of them in one currency`
      context.addIssue({ code: 'custom', path: ['model'], message })
    }
  })
export type ConfigFile = z.infer<typeof configFile>
