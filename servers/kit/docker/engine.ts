/** A container as an engine (Docker or Podman) lists it. Times are unix milliseconds. */
export interface Container {
  /** 64 hexadecimal digits. */
  id: string
  /** Name without the leading slash. */
  name: string
  image: string
  state: 'created' | 'running' | 'paused' | 'restarting' | 'removing' | 'exited' | 'dead'
  labels: Readonly<Record<string, string>>
}

/** The details that an engine has of one container. */
export interface ContainerDetails extends Container {
  /** Undefined if it has no health check. */
  health: 'starting' | 'healthy' | 'unhealthy' | undefined
  /** The output of the last health check, if there was one. */
  healthOutput: string | undefined
  /** Number of restarts by the engine itself. */
  restarts: number
  /** Undefined while it runs, and if it never ran. */
  exitCode: number | undefined
  /** True if its last end was for using too much memory, as far as the engine noticed (Podman may not). */
  oom: boolean
  error: string | undefined
  startedAt: number | undefined
  finishedAt: number | undefined
}

/** The CPU and memory that a container uses. */
export interface ContainerUse {
  /** Per cent of one core, so it may exceed 100. */
  cpuPercent: number
  /** Bytes, without the page cache if the engine reports it (Docker does; Podman 4 includes it). */
  memoryBytes: number
  /** Bytes; undefined if it has no limit of its own. */
  memoryLimitBytes: number | undefined
}

/** Something that happened to a container. */
export interface ContainerEvent {
  /**
   * `kill`: a signal was sent, which comes before the `die` of a requested end: a stop, a restart, a kill
   * (Podman does not report a stop). `oom`: comes before the `die` of an end for too much memory (Podman does
   * not report it). `health`: Docker reports it when it changes, Podman at every check.
   */
  kind: 'start' | 'kill' | 'die' | 'oom' | 'health' | 'destroy'
  id: string
  name: string
  /** Exit code of `die`. */
  exitCode: number | undefined
  /** Health status of `health`. */
  health: ContainerDetails['health']
  at: number
}

export interface LogsOptions {
  /** Number of the newest lines to read. */
  tail: number
  /** Start of the lines to read, in unix milliseconds. */
  since?: number | undefined
}

/** One Docker or Podman API. Every call fails with UpstreamFailure, which says what to do; none is retried. */
export interface Engine {
  /** "docker", or the name from its settings. */
  readonly name: string
  /** The address for messages: "/var/run/docker.sock". */
  readonly address: string
  /** Returns the engine and its version: "Docker 20.10.24", "Podman 4.3.1". */
  version(signal?: AbortSignal): Promise<string>
  /**
   * Lists the containers; with `label` only those that have it, as "superbloom.game" or
   * "superbloom.game=minecraft".
   */
  list(options: { label?: string; signal?: AbortSignal }): Promise<Container[]>
  /** Finds a container by name or id; undefined if there is none. */
  inspect(container: string, signal?: AbortSignal): Promise<ContainerDetails | undefined>
  /** Measures for one to two seconds: the CPU is sampled twice. */
  use(container: string, signal?: AbortSignal): Promise<ContainerUse>
  /**
   * Returns standard output and errors in order, one line each, without the engine's framing and time stamps.
   */
  logs(container: string, options: LogsOptions, signal?: AbortSignal): Promise<string[]>
  /** Starts the container; resolves with false if it ran already. */
  start(container: string, signal?: AbortSignal): Promise<boolean>
  /**
   * Stops the container; resolves with false if it was stopped already. `grace`: seconds until the engine
   * kills it.
   */
  stop(container: string, grace: number, signal?: AbortSignal): Promise<boolean>
  restart(container: string, grace: number, signal?: AbortSignal): Promise<void>
  /** Calls `onEvent` for every event and resolves when the signal aborts. Rejects when the stream ends. */
  follow(onEvent: (event: ContainerEvent) => void, signal: AbortSignal, ready: () => void): Promise<void>
}
