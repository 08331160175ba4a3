import { z } from 'zod'
import { ACCESS_LEVELS } from '../kit/access.ts'
import { consoleSettings } from './upstreams/console.ts'
import { querySettings } from './upstreams/query.ts'

/** The name of a game server in tools and events. */
export const gameName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'a name of letters, digits and . _ -, at most 63 of them')

const short = <Shape extends z.ZodType>(key: string, shape: Shape) =>
  z.preprocess(value => (typeof value === 'string' ? { [key]: value } : value), shape)

const text = z.string().min(1).max(500)
const backends = {
  docker: short('container', z.strictObject({ container: text, engine: text.optional() })),
  systemd: short(
    'unit',
    z.strictObject({
      unit: text.regex(/^[^-\s/][^\s/]*$/, 'a unit such as "minecraft.service"'),
      user: z.boolean().default(false),
    }),
  ),
  process: z.strictObject({
    command: text,
    args: z.array(z.string()).default([]),
    cwd: text.optional(),
    env: z.record(z.string(), z.string()).default({}),
  }),
  kubernetes: z
    .strictObject({
      deployment: text.optional(),
      statefulset: text.optional(),
      namespace: text.default('default'),
      context: text.optional(),
    })
    .refine(
      ({ deployment, statefulset }) => (deployment === undefined) !== (statefulset === undefined),
      'give either deployment or statefulset',
    ),
}

const KINDS = ['docker', 'systemd', 'process', 'kubernetes'] as const
const seconds = (fallback: number) => z.number().min(1).max(3600).default(fallback)

/** A game server as the config declares it, with exactly one backend. */
export const gameEntry = z
  .strictObject({
    title: z.string().min(1).max(100).optional(),
    docker: backends.docker.optional(),
    systemd: backends.systemd.optional(),
    process: backends.process.optional(),
    kubernetes: backends.kubernetes.optional(),
    query: querySettings.partial({ host: true }).optional(),
    console: consoleSettings
      .partial({ host: true, password: true })
      .extend({ passwordFile: text.optional() })
      .refine(
        ({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined),
        'give either password or passwordFile',
      )
      .optional(),
    commands: z.array(z.string().min(1).max(200)).max(200).default([]),
    access: z.enum(ACCESS_LEVELS).default('full'),
    startSeconds: seconds(120),
    stopSeconds: seconds(30),
  })
  .refine(entry => KINDS.filter(kind => entry[kind] !== undefined).length === 1, {
    error: `give exactly one of ${KINDS.join(', ')}`,
  })
export type GameEntry = z.output<typeof gameEntry>

/** The whole config file. */
export const gamesFile = z.strictObject({ servers: z.record(gameName, gameEntry) })
