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
  docker: short('container', z.strictObject({ container: text, engine: text.optional() })).transform(
    ({ container, engine }) => ({ kind: 'docker' as const, container, engine }),
  ),
  systemd: short(
    'unit',
    z.strictObject({
      unit: text.regex(/^[^-\s/][^\s/]*$/, 'a unit such as "minecraft.service"'),
      user: z.boolean().default(false),
    }),
  ).transform(found => ({ kind: 'systemd' as const, ...found })),
  process: z
    .strictObject({
      command: text,
      args: z.array(z.string()).default([]),
      cwd: text.optional(),
      env: z.record(z.string(), z.string()).default({}),
    })
    .transform(found => ({ kind: 'process' as const, ...found, cwd: found.cwd })),
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
    )
    .transform(({ deployment, statefulset = '', namespace, context }) => ({
      kind: 'kubernetes' as const,
      workload: deployment === undefined ? ('statefulset' as const) : ('deployment' as const),
      name: deployment ?? statefulset,
      namespace,
      context,
    })),
}
export type BackendSettings = z.output<(typeof backends)[keyof typeof backends]>

const KINDS = Object.keys(backends)
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
  .transform(({ docker, systemd, process, kubernetes, ...rest }, context) => {
    const [backend, second] = [docker, systemd, process, kubernetes].filter(found => found !== undefined)
    if (backend && !second) return { ...rest, backend }
    context.addIssue({ code: 'custom', message: `give exactly one of ${KINDS.join(', ')}` })
    return z.NEVER
  })
export type GameEntry = z.output<typeof gameEntry>

/** The whole config file. */
export const gamesFile = z.strictObject({ servers: z.record(gameName, gameEntry) })
