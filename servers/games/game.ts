/** A game server from the settings, or from a container's labels. */
export interface Game {
  /** The name in tools and events: "atm-10". */
  name: string
  title: string
  backend: Backend
  /** Undefined if the game cannot be asked: then nobody knows who plays. */
  query: Query | undefined
  /** Undefined if it has none. */
  console: Console | undefined
  /** Commands that run_game_command may send, as globs over the whole command: "status", "say *". Empty: none. */
  commands: readonly string[]
  /** What tools may do with it. */
  access: 'read' | 'change' | 'full'
  /** Seconds that a start may take until the game answers a query. */
  startSeconds: number
  /** Seconds that the game gets to stop by itself. */
  stopSeconds: number
}

/** State of a game server without asking the game. Times are unix milliseconds. */
export interface BackendState {
  state: 'running' | 'starting' | 'stopped' | 'failed' | 'missing'
  /** The backend's own word: "Up, healthy", "active (running)". */
  detail: string
  startedAt: number | undefined
  stoppedAt: number | undefined
  exitCode: number | undefined
  oom: boolean
  /** Number of automatic restarts; undefined if the backend does not count them. */
  restarts: number | undefined
  health: 'starting' | 'healthy' | 'unhealthy' | undefined
}

/** Tells whether a game server runs, or is about to. */
export function isRunning({ state }: BackendState): boolean {
  return state === 'running' || state === 'starting'
}

/** An end that nobody requested. */
export interface Crash {
  exitCode: number | undefined
  oom: boolean
  /** The container that ended. */
  container?: string
}

/**
 * A backend starts and stops a game server: an engine's container, a systemd unit, a process, a Kubernetes
 * workload.
 */
export interface Backend {
  readonly kind: 'docker' | 'systemd' | 'process' | 'kubernetes'
  /** The backend in messages: "container minecraft of /var/run/docker.sock". */
  readonly where: string
  state(signal?: AbortSignal): Promise<BackendState>
  /** Starts the game server; resolves with false if it ran already. Does not wait for the game to answer. */
  start(signal?: AbortSignal): Promise<boolean>
  /** Stops the game server; resolves with false if it was stopped already. */
  stop(graceSeconds: number, signal?: AbortSignal): Promise<boolean>
  restart(graceSeconds: number, signal?: AbortSignal): Promise<void>
  /** Returns the newest lines, oldest first. */
  logs(lines: number, signal?: AbortSignal): Promise<string[]>
  /**
   * Returns its use now; undefined if the backend cannot measure it. CPU is per cent of one core, memory in
   * bytes.
   */
  use(signal?: AbortSignal): Promise<{ cpuPercent: number; memoryBytes: number } | undefined>
}

/** A game's answer over its own protocol. */
export interface GameStatus {
  /** The server's own name: foreign text. */
  name: string
  map: string | undefined
  version: string | undefined
  players: number
  maxPlayers: number | undefined
  bots: number
  /**
   * Names of players, foreign text. Undefined if the protocol has none, which does not mean that nobody
   * plays.
   */
  names: readonly string[] | undefined
  /** Milliseconds from question to answer. */
  ping: number
}

export interface Query {
  /** The query in messages: "q3a at 127.0.0.1:27960". */
  readonly where: string
  /** Asks the game. Rejects with UpstreamFailure if it does not answer. */
  ask(signal?: AbortSignal): Promise<GameStatus>
}

export interface Console {
  readonly kind: 'quake3' | 'source' | 'minecraft' | 'teeworlds'
  readonly where: string
  /**
   * Returns the answer's lines, foreign text. Rejects with UpstreamFailure: down, wrong password, no answer.
   */
  send(command: string, signal?: AbortSignal): Promise<string[]>
  /** Shows a text to all players, if the game has such a command. */
  say(text: string, signal?: AbortSignal): Promise<void>
}
