/** A container as an engine (Docker or Podman) lists it. Times are unix milliseconds. */
export interface Container {
  /** 64 hexadecimal digits. */
  id: string
  /** Without the leading slash. */
  name: string
  image: string
  state: 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'
  labels: Readonly<Record<string, string>>
}

/** What an engine knows of one container. */
export interface ContainerDetails extends Container {
  /** Undefined where it has no health check. */
  health: 'starting' | 'healthy' | 'unhealthy' | undefined
  /** The output of the last health check, where there is one. */
  healthOutput: string | undefined
  /** How often the engine started it anew by itself. */
  restarts: number
  /** Undefined while it runs and where it never ran. */
  exitCode: number | undefined
  /** Its last end was for using too much memory, as far as the engine noticed (Podman may not). */
  oom: boolean
  error: string | undefined
  startedAt: number | undefined
  finishedAt: number | undefined
}

/** What a container uses. */
export interface ContainerUse {
  /** Of one core, so it may exceed 100. */
  cpuPercent: number
  /** Bytes, without the page cache where the engine tells it (Docker does; Podman 4 counts it in). */
  memoryBytes: number
  /** Bytes; undefined where it has no limit of its own. */
  memoryLimitBytes: number | undefined
}

/** Something that happened to a container. */
export interface ContainerEvent {
  /**
   * `kill`: someone sent it a signal, which comes before the `die` of an end that was asked for: a stop, a restart, a kill
   * (Podman does not tell a stop). `oom`: before the `die` of an end for too much memory (Podman does not tell it). `health`:
   * Docker tells it when it changes, Podman at every check.
   */
  kind: 'start' | 'kill' | 'die' | 'oom' | 'health' | 'destroy'
  id: string
  name: string
  /** Of `die`. */
  exitCode: number | undefined
  /** Of `health`. */
  health: ContainerDetails['health']
  at: number
}

export interface LogsOptions {
  /** The newest lines. */
  tail: number
  /** Unix milliseconds. */
  since?: number
}

/** One Docker or Podman API. Every call fails with UpstreamFailure, which says what to do; none is retried. */
export interface Engine {
  /** "docker", or what its settings call it. */
  readonly name: string
  /** For messages: "/var/run/docker.sock". */
  readonly address: string
  /** The engine and its version: "Docker 20.10.24", "Podman 4.3.1". */
  version(signal?: AbortSignal): Promise<string>
  /** `label`: only those that have it, as "superbloom.game" or "superbloom.game=minecraft". */
  list(options: { label?: string; signal?: AbortSignal }): Promise<Container[]>
  /** By name or id. Undefined where there is none. */
  inspect(container: string, signal?: AbortSignal): Promise<ContainerDetails | undefined>
  /** Takes one to two seconds: the processor is looked at twice. */
  use(container: string, signal?: AbortSignal): Promise<ContainerUse>
  /** Standard output and errors in order, a line each, without the engine's framing and time stamps. */
  logs(container: string, options: LogsOptions, signal?: AbortSignal): Promise<string[]>
  /** Resolves with whether anything changed: false where it ran already. */
  start(container: string, signal?: AbortSignal): Promise<boolean>
  /** Resolves with false where it was stopped already. `grace`: seconds until the engine kills it. */
  stop(container: string, grace: number, signal?: AbortSignal): Promise<boolean>
  restart(container: string, grace: number, signal?: AbortSignal): Promise<void>
  /** Calls `onEvent` for everything that happens until the signal aborts. Resolves then; rejects when the stream ends. */
  follow(onEvent: (event: ContainerEvent) => void, signal: AbortSignal, ready: () => void): Promise<void>
}
