/** A game server as the settings declare it, or as a container's labels do. */
export interface Game {
  /** "atm-10": how tools and events call it. */
  name: string
  title: string
  backend: Backend
  /** Undefined where nothing can be asked: then nobody knows who plays. */
  query: Query | undefined
  /** Undefined where it has none. */
  console: Console | undefined
  /** Commands that run_game_command may send, as globs over the whole command: "status", "say *". Empty: none. */
  commands: readonly string[]
  /** What tools may do with it. */
  access: 'read' | 'change' | 'full'
  /** Seconds that a start may take until it answers a query. */
  startSeconds: number
  /** Seconds that it gets to stop by itself. */
  stopSeconds: number
}

/** What a backend knows without asking the game. Times are unix milliseconds. */
export interface BackendState {
  state: 'running' | 'starting' | 'stopped' | 'failed' | 'missing'
  /** The backend's own word: "Up, healthy", "active (running)". */
  detail: string
  startedAt: number | undefined
  stoppedAt: number | undefined
  exitCode: number | undefined
  oom: boolean
  /** How often it was started anew by itself; undefined where nobody counts. */
  restarts: number | undefined
  health: 'starting' | 'healthy' | 'unhealthy' | undefined
}

/** An end that nobody asked for. */
export interface Crash {
  exitCode: number | undefined
  oom: boolean
  /** The container that ended. */
  container?: string
}

/** What starts and stops a game server: an engine's container, a systemd unit, a process, a Kubernetes workload. */
export interface Backend {
  readonly kind: 'docker' | 'systemd' | 'process' | 'kubernetes'
  /** For messages: "container minecraft of /var/run/docker.sock". */
  readonly where: string
  state(signal?: AbortSignal): Promise<BackendState>
  /** Resolves with false where it ran already. Does not wait for the game to answer. */
  start(signal?: AbortSignal): Promise<boolean>
  /** Resolves with false where it was stopped already. */
  stop(graceSeconds: number, signal?: AbortSignal): Promise<boolean>
  restart(graceSeconds: number, signal?: AbortSignal): Promise<void>
  /** The newest lines, oldest first. */
  logs(lines: number, signal?: AbortSignal): Promise<string[]>
  /** What it uses now; undefined where the backend cannot tell. CPU is of one core, memory in bytes. */
  use(signal?: AbortSignal): Promise<{ cpuPercent: number; memoryBytes: number } | undefined>
}

/** What a game answers when it is asked over its own protocol. */
export interface GameStatus {
  /** The server's name as it says it: text of others. */
  name: string
  map: string | undefined
  version: string | undefined
  players: number
  maxPlayers: number | undefined
  bots: number
  /** Where the protocol gives them; text of others. Undefined where it gives none, which is not "nobody". */
  names: readonly string[] | undefined
  /** Milliseconds from question to answer. */
  ping: number
}

export interface Query {
  /** For messages: "q3a at 127.0.0.1:27960". */
  readonly where: string
  /** Fails with UpstreamFailure where it does not answer. */
  ask(signal?: AbortSignal): Promise<GameStatus>
}

export interface Console {
  readonly kind: 'quake3' | 'source' | 'minecraft' | 'teeworlds'
  readonly where: string
  /** The answer's lines, text of others. Fails with UpstreamFailure: down, wrong password, no answer. */
  send(command: string, signal?: AbortSignal): Promise<string[]>
  /** What makes all players read a text, where the game has such a command. */
  say(text: string, signal?: AbortSignal): Promise<void>
}
