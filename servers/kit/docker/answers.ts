import { z } from 'zod'
import { parseTime } from '../clock.ts'
import type { Container, ContainerDetails } from './engine.ts'

const STATES: Readonly<Record<string, Container['state']>> = {
  created: 'created',
  running: 'running',
  paused: 'paused',
  restarting: 'restarting',
  removing: 'removing',
  exited: 'exited',
  dead: 'dead',
  // States of Podman.
  configured: 'created',
  initialized: 'created',
  stopping: 'running',
  stopped: 'exited',
}

const labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform(found => found ?? {})
const state = z.string().transform(text => STATES[text.toLowerCase()] ?? 'dead')
const time = z.string().nullish().transform(parseTime)

/** GET /version of Docker and of Podman. */
export const versionAnswer = z
  .object({
    Version: z.string(),
    Components: z.array(z.object({ Name: z.string(), Version: z.string() })).nullish(),
  })
  .transform(({ Version, Components }) => {
    const podman = Components?.find(({ Name }) => Name.startsWith('Podman'))
    return podman ? `Podman ${podman.Version}` : `Docker ${Version}`
  })

/** GET /containers/json. */
export const listAnswer = z.array(
  z
    .object({
      Id: z.string(),
      Names: z.array(z.string()).nullish(),
      Image: z.string(),
      State: state,
      Labels: labels,
    })
    .transform(({ Id, Names, Image, State, Labels }): Container => {
      const name = toContainerName(Names?.[0] ?? Id.slice(0, 12))
      return { id: Id, name, image: Image, state: State, labels: Labels }
    }),
)

const health = z
  .object({
    Status: z.string().nullish(),
    Log: z.array(z.object({ Output: z.string().nullish() })).nullish(),
  })
  .nullish()

const rawDetails = z.object({
  Id: z.string(),
  Name: z.string(),
  Config: z.object({ Image: z.string(), Labels: labels, Tty: z.boolean().nullish() }),
  HostConfig: z.object({ Memory: z.number().nullish() }).nullish(),
  RestartCount: z.number().nullish(),
  State: z.object({
    Status: state,
    OOMKilled: z.boolean().nullish(),
    ExitCode: z.number().nullish(),
    Error: z.string().nullish(),
    StartedAt: time,
    FinishedAt: time,
    Health: health,
  }),
})

/**
 * GET /containers/NAME/json: the details, whether the container has a terminal, and its memory limit in
 * bytes.
 */
export const inspectAnswer = rawDetails.transform(found => ({
  details: toDetails(found),
  terminal: found.Config.Tty === true,
  memoryLimitBytes: found.HostConfig?.Memory || undefined,
}))

function toDetails({ Id, Name, Config, RestartCount, State }: z.output<typeof rawDetails>): ContainerDetails {
  const ended = State.Status === 'exited' || State.Status === 'dead' || State.Status === 'restarting'
  return {
    id: Id,
    name: toContainerName(Name),
    image: Config.Image,
    state: State.Status,
    labels: Config.Labels,
    health: toHealth(State.Health?.Status),
    healthOutput: State.Health?.Log?.at(-1)?.Output?.trim() || undefined,
    restarts: RestartCount ?? 0,
    exitCode: ended && State.FinishedAt !== undefined ? (State.ExitCode ?? undefined) : undefined,
    oom: State.OOMKilled === true,
    error: State.Error || undefined,
    startedAt: State.StartedAt,
    finishedAt: State.FinishedAt,
  }
}

/** Converts a health status; Docker sends "none" and Podman "" for a container without a health check. */
export function toHealth(text: string | null | undefined): ContainerDetails['health'] {
  return text === 'starting' || text === 'healthy' || text === 'unhealthy' ? text : undefined
}

function toContainerName(name: string): string {
  return name.replace(/^\//, '')
}

const cpuTime = z
  .object({ cpu_usage: z.object({ total_usage: z.number().nullish() }).nullish() })
  .nullish()
  .transform(found => found?.cpu_usage?.total_usage ?? undefined)

/** GET /containers/NAME/stats. */
export const statsAnswer = z
  .object({
    read: time,
    preread: time,
    cpu_stats: cpuTime,
    precpu_stats: cpuTime,
    memory_stats: z
      .object({
        usage: z.number().nullish(),
        stats: z.record(z.string(), z.unknown()).nullish(),
      })
      .nullish(),
  })
  .transform(found => ({
    now: toSample(found.read, found.cpu_stats),
    before: toSample(found.preread, found.precpu_stats),
    memoryBytes: toMemory(found.memory_stats ?? undefined),
  }))
export type Stats = z.output<typeof statsAnswer>

/** A sample of a container's CPU time: `at` in unix milliseconds, `used` in nanoseconds. */
export interface Sample {
  at: number
  used: number
}

/**
 * Returns per cent of one core between two samples. It uses their times and not the engine's
 * `system_cpu_usage`: that is the time of all cores together in Docker, and the time of day in Podman.
 */
export function toCpuPercent(before: Sample, now: Sample): number {
  const elapsed = now.at - before.at
  if (elapsed <= 0) return 0
  return Math.max(0, ((now.used - before.used) / (elapsed * 1_000_000)) * 100)
}

/**
 * Returns a sample; undefined if there was none: Docker sends zeros for a stopped container, and Podman in
 * `precpu_stats`.
 */
function toSample(at: number | undefined, used: number | undefined): Sample | undefined {
  return at === undefined || used === undefined || used === 0 ? undefined : { at, used }
}

/**
 * Counts memory as `docker stats` does: without the inactive page cache (cgroup versions 1 and 2 name it
 * differently).
 */
function toMemory(
  memory:
    | { usage?: number | null | undefined; stats?: Record<string, unknown> | null | undefined }
    | undefined,
): number {
  const usage = memory?.usage ?? 0
  const cache = memory?.stats?.['total_inactive_file'] ?? memory?.stats?.['inactive_file']
  return typeof cache === 'number' && cache < usage ? usage - cache : usage
}
