import type { Group } from './packages.ts'
/**
 * The hub's address for a client over HTTP, its bridge for a client that starts a process, and the client's
 * own folder.
 */
export interface Place {
  /** The address with its path: "http://127.0.0.1:40123/mcp". */
  url: string
  token: string
  /** Starts `superbloom mcp`; undefined if the bridge does not lead to this endpoint. */
  bridge: { command: string; args: string[]; env: Record<string, string> } | undefined
  /** The client's home, which is removed afterwards. */
  folder: string
}

/** Thrown if a client has no means for a feature. */
export class CannotError extends Error {}

/** Returns how to start the bridge; throws CannotError if it does not lead to this endpoint. */
export function bridgeOf({ bridge }: Place): NonNullable<Place['bridge']> {
  if (!bridge) throw new CannotError('superbloom mcp does not lead there')
  return bridge
}

export type Args = Record<string, unknown>

/** The requests that a server may send to a client. */
export type Asked = 'sampling' | 'elicitation' | 'roots'

/** The client's answers, which can be recognised in a tool's result. */
export const ANSWERS = {
  sampling: 'sampled by the client',
  elicitation: 'Ada of the client',
  roots: 'file:///home/of-the-client',
} as const satisfies Record<Asked, string>

/** Resolves once the client has received a change since the watch began. */
export type Told = () => Promise<unknown>

/** A client that is connected or ready to start. A missing method is a feature that it lacks. */
export interface OpenClient extends AsyncDisposable {
  /** Returns the tools' names. */
  listTools?(): Promise<readonly string[]>
  /** Returns the result in the client's own shape. */
  call?(tool: string, args: Args): Promise<unknown>
  /** Returns the progress that the client reported until the call ended. */
  progress?(tool: string, args: Args): Promise<readonly number[]>
  /** Settles once the call is over for the client. */
  cancel?(tool: string, args: Args, signal: AbortSignal): Promise<unknown>
  /** Returns the resources' addresses. */
  listResources?(): Promise<readonly string[]>
  readResource?(uri: string): Promise<unknown>
  /** Returns the prompts' names. */
  listPrompts?(): Promise<readonly string[]>
  getPrompt?(name: string, args: Record<string, string>): Promise<unknown>
  complete?(prompt: string, argument: string, value: string): Promise<unknown>
  watchTools?(): Promise<Told>
  watchResource?(uri: string): Promise<Told>
  /** The requests of servers that it answers with `ANSWERS`. */
  readonly answers?: readonly Asked[]
}

/** One row of the table. */
export interface ClientDriver {
  readonly name: string
  readonly over: 'HTTP' | 'stdio'
  /** The npm package whose version the row shows. */
  readonly of: string
  /** The group of packages to install; undefined if this repository has them. */
  readonly installed?: Group
  /** True if it downloads more than 100 MB, so that only the full run uses it. */
  readonly isHeavy?: boolean
  open(place: Place): Promise<OpenClient>
}
