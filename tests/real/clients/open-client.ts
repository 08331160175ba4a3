import type { Group } from './packages.ts'
/** Where the hub is, for a client that asks by HTTP and for one that starts a process, and a folder of the client's own. */
export interface Place {
  /** With the path: "http://127.0.0.1:40123/mcp". */
  url: string
  token: string
  /** `superbloom mcp`; undefined where the endpoint is one that it does not bridge to. */
  bridge: { command: string; args: string[]; env: Record<string, string> } | undefined
  /** Its home; removed afterwards. */
  folder: string
}

/** Thrown where a client has no way to what is asked of it. */
export class CannotError extends Error {}

/** How the bridge is started; throws CannotError where it does not lead to that place. */
export function bridgeOf({ bridge }: Place): NonNullable<Place['bridge']> {
  if (!bridge) throw new CannotError('superbloom mcp does not lead there')
  return bridge
}

export type Args = Record<string, unknown>

/** What a server may ask a client for. */
export type Asked = 'sampling' | 'elicitation' | 'roots'

/** What a client answers, so that it is found again in a tool's result. */
export const ANSWERS = {
  sampling: 'sampled by the client',
  elicitation: 'Ada of the client',
  roots: 'file:///home/of-the-client',
} as const satisfies Record<Asked, string>

/** Resolves once the client was told of a change since the watch began. */
export type Told = () => Promise<unknown>

/** A client that is connected, or ready to be started. What is not here the client cannot do. */
export interface OpenClient extends AsyncDisposable {
  /** The names. */
  listTools?(): Promise<readonly string[]>
  /** The result as the client hands it over, in the client's own shape. */
  call?(tool: string, args: Args): Promise<unknown>
  /** The progress that the client hands over until the call has ended. */
  progress?(tool: string, args: Args): Promise<readonly number[]>
  /** Rejects or resolves once the call is over for the client. */
  cancel?(tool: string, args: Args, signal: AbortSignal): Promise<unknown>
  /** The addresses. */
  listResources?(): Promise<readonly string[]>
  readResource?(uri: string): Promise<unknown>
  /** The names. */
  listPrompts?(): Promise<readonly string[]>
  getPrompt?(name: string, args: Record<string, string>): Promise<unknown>
  complete?(prompt: string, argument: string, value: string): Promise<unknown>
  watchTools?(): Promise<Told>
  watchResource?(uri: string): Promise<Told>
  /** What it answers servers with `ANSWERS`. */
  readonly answers?: readonly Asked[]
}

/** One row of the table. */
export interface ClientDriver {
  readonly name: string
  readonly over: 'HTTP' | 'stdio'
  /** The npm package whose version the row is about. */
  readonly of: string
  /** The group of packages to install; undefined where they come along with this repository. */
  readonly installed?: Group
  /** Downloads more than 100 MB: left to the full run. */
  readonly isHeavy?: boolean
  open(place: Place): Promise<OpenClient>
}
