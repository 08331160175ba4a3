import {
  type CallToolResult,
  type GetPromptResult,
  ProtocolError,
  type ReadResourceResult,
} from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import type { Catalogue } from './catalogue.ts'
import type { Connection } from './connection.ts'
import { untilComplete } from './rounds.ts'

/**
 * Requests to whichever server it is that has something. They throw `not_found` for what no server has, `unavailable`
 * while its server is down, and what the server answered with; they wait for servers that start.
 */
export interface ServerRequests {
  /** Waits for servers that start and may have a tool or prompt of this name. */
  untilListed(name: string, signal?: AbortSignal): Promise<void>
  /** Calls a tool. */
  call(name: string, args: JsonObject, options?: ForwardOptions): Promise<CallToolResult>
  readResource(uri: string, options?: ForwardOptions): Promise<ReadResourceResult>
  getPrompt(name: string, args: JsonObject, options?: ForwardOptions): Promise<GetPromptResult>
  /** `ref` and `argument` as in `completion/complete`; what nobody can complete has no completions. */
  complete(params: JsonObject, options?: ForwardOptions): Promise<JsonObject>
}

export interface RequestDeps {
  all: () => readonly Connection[]
  find: (server: string) => Connection | undefined
  readonly catalogue: Catalogue
}

export function createRequests(deps: RequestDeps): ServerRequests {
  /** A client may know a name from before a restart of the hub: waits for the servers that may have it. */
  const untilListed = async (name: string, signal?: AbortSignal) => {
    if (deps.catalogue.tool(name) || deps.catalogue.prompt(name)) return
    const mayHave = ({ spec, status, offer }: Connection) =>
      status.state === 'starting' && offer.tools.length === 0 && name.startsWith(spec.prefix)
    await Promise.all(
      deps
        .all()
        .filter(mayHave)
        .map(connection => connection.untilSettled(signal)),
    )
  }
  const connectionOf = (entry: { server: string } | undefined, what: string) => {
    const connection = entry && deps.find(entry.server)
    if (!connection) throw new HubError('not_found', `There is no ${what}`)
    return connection
  }
  return {
    untilListed,
    async call(name, args, options = {}) {
      await untilListed(name, options.signal)
      const tool = deps.catalogue.tool(name)
      const connection = connectionOf(tool, `tool ${name}`)
      const params = { name: tool?.original, arguments: args }
      return untilComplete(
        repeat => connection.request('tools/call', { ...params, ...repeat }, options),
        options,
      )
    },
    async getPrompt(name, args, options = {}) {
      await untilListed(name, options.signal)
      const prompt = deps.catalogue.prompt(name)
      const connection = connectionOf(prompt, `prompt ${name}`)
      const params = { name: prompt?.original, arguments: args }
      return untilComplete(
        repeat => connection.request('prompts/get', { ...params, ...repeat }, options),
        options,
      )
    },
    readResource: (uri, options = {}) => readFromAny(deps, uri, options),
    async complete(params, options) {
      const found = findCompleter(params, deps.catalogue)
      const connection = found && deps.find(found.server)
      if (!found || !connection?.capabilities.completions)
        return { completion: { values: [], hasMore: false } }
      return connection.request('completion/complete', { ...params, ref: found.ref }, options)
    },
  }
}

/** The first that has it answers; where none has, what the likeliest says. */
async function readFromAny(
  { catalogue, find }: RequestDeps,
  uri: string,
  options: ForwardOptions,
): Promise<ReadResourceResult> {
  const owners = catalogue.ownersOf(uri)
  let refused: unknown
  for (const owner of owners) {
    const connection = find(owner)
    if (!connection) continue
    try {
      const send = (repeat: JsonObject | undefined) =>
        connection.request('resources/read', { uri, ...repeat }, options)
      return await untilComplete(send, options)
    } catch (error) {
      if (owners.length === 1 || !(error instanceof ProtocolError)) throw error
      refused ??= error
    }
  }
  throw refused ?? new HubError('not_found', `There is no resource ${uri}`)
}

/** Who completes an argument of a prompt or a template, and what it calls that. */
function findCompleter(
  { ref }: JsonObject,
  catalogue: Catalogue,
): { server: string; ref: JsonObject } | undefined {
  const { type, name, uri } = (ref ?? {}) as JsonObject
  if (type === 'ref/prompt') {
    const prompt = catalogue.prompt(String(name))
    return prompt && { server: prompt.server, ref: { type, name: prompt.original } }
  }
  const server = catalogue.templateOwner(String(uri))
  return server === undefined ? undefined : { server, ref: { type, uri } }
}
