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
const time = z
  .string()
  .nullish()
  .transform(text => (text ? parseTime(text) : undefined))

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

/**
 * GET /containers/NAME/json: the details, whether the container has a terminal, and its memory limit in
 * bytes.
 */
export const inspectAnswer = z
  .object({
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
  .transform(found => ({
    details: toDetails(found),
    terminal: found.Config.Tty === true,
    memoryLimitBytes: found.HostConfig?.Memory || undefined,
  }))
export type Inspected = z.output<typeof inspectAnswer>

interface Found {
  Id: string
  Name: string
  Config: { Image: string; Labels: Record<string, string> }
  RestartCount?: number | null | undefined
  State: {
    Status: Container['state']
    OOMKilled?: boolean | null | undefined
    ExitCode?: number | null | undefined
    Error?: string | null | undefined
    StartedAt: number | undefined
    FinishedAt: number | undefined
    Health?: z.output<typeof health>
  }
}

function toDetails({ Id, Name, Config, RestartCount, State }: Found): ContainerDetails {
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
