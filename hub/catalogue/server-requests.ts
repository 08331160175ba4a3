import {
  type CallToolResult,
  type GetPromptResult,
  ProtocolError,
  type ReadResourceResult,
} from '@modelcontextprotocol/client'
import { HubError } from '../core/errors.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import type { Connection } from '../upstream/connection.ts'
import type { Pool } from '../upstream/pool.ts'
import { quoteAsked, untilComplete } from '../upstream/questions.ts'
import type { ForwardedResults } from '../upstream/session.ts'
import type { Catalogue } from './catalogue.ts'

/**
 * Sends requests to the server that has a tool, prompt or resource, after its start if need be. Throws
 * `not_found` for what no server has, `unavailable` while its server is down, and the server's error.
 */
export interface ServerRequests {
  /** Waits for starting servers that may have a tool or prompt of this name. */
  untilListed(name: string, signal?: AbortSignal): Promise<void>
  /** Returns why a tool is missing that a server which is not ready may have; undefined if there is none. */
  whyMissing(name: string): string | undefined
  call(name: string, args: JsonObject, options?: ForwardOptions): Promise<CallToolResult>
  readResource(uri: string, options?: ForwardOptions): Promise<ReadResourceResult>
  getPrompt(name: string, args: JsonObject, options?: ForwardOptions): Promise<GetPromptResult>
  /** Completes `argument` of `ref` as in `completion/complete`; without a completer there are no values. */
  complete(params: JsonObject, options?: ForwardOptions): Promise<JsonObject>
}

export interface RequestDeps {
  all: () => readonly Connection[]
  use: Pool['use']
  whyMissing: ServerRequests['whyMissing']
  /** Resolves if this hub may still act on its servers. */
  confirm: () => Promise<void>
  readonly catalogue: Catalogue
}

export function createRequests(deps: RequestDeps): ServerRequests {
  /** Waits for the servers that may have a name, which a client may know from before a restart of the hub. */
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
  /** Sends a request for a tool or prompt, under its name on its server. */
  const requestOf = <Method extends 'tools/call' | 'prompts/get'>(
    entry: { server: string; original: string } | undefined,
    method: Method,
    { what, args, options }: { what: string; args: JsonObject; options: ForwardOptions },
  ) => {
    if (!entry) throw new HubError('not_found', `There is no ${what}`)
    return send(deps.use, entry.server, method, { name: entry.original, arguments: args }, options)
  }
  return {
    untilListed,
    whyMissing: deps.whyMissing,
    async call(name, args, options = {}) {
      if (!deps.catalogue.tool(name)) await untilListed(name, options.signal)
      const tool = deps.catalogue.tool(name)
      const why = tool ? undefined : deps.whyMissing(name)
      if (why !== undefined) throw new HubError('unavailable', why)
      await deps.confirm()
      return requestOf(tool, 'tools/call', { what: `tool ${name}`, args, options })
    },
    async getPrompt(name, args, options = {}) {
      await untilListed(name, options.signal)
      return requestOf(deps.catalogue.prompt(name), 'prompts/get', { what: `prompt ${name}`, args, options })
    },
    readResource: (uri, options = {}) => readFromAny(deps, uri, options),
    async complete(params, options = {}) {
      const found = findCompleter(params, deps.catalogue)
      const none = { completion: { values: [], hasMore: false } }
      if (!found) return none
      return deps.use(
        found.server,
        async connection =>
          connection.capabilities.completions
            ? connection.request(
                'completion/complete',
                { ...params, ref: found.ref },
                quoteAsked(found.server, options),
              )
            : none,
        options,
      )
    },
  }
}

/** Sends a request for which the server may ask for input. */
function send<Method extends 'tools/call' | 'prompts/get' | 'resources/read'>(
  use: Pool['use'],
  server: string,
  method: Method,
  params: JsonObject,
  given: ForwardOptions,
): Promise<ForwardedResults[Method]> {
  return use(
    server,
    connection =>
      untilComplete(server, given, (repeat, options) =>
        connection.request(method, { ...params, ...repeat }, options),
      ),
    given,
  )
}

/** Reads from the first server that has the resource; if none has, throws the likeliest one's error. */
async function readFromAny(
  { catalogue, use }: RequestDeps,
  uri: string,
  options: ForwardOptions,
): Promise<ReadResourceResult> {
  const owners = catalogue.ownersOf(uri)
  let refused: unknown
  for (const owner of owners) {
    try {
      return await send(use, owner, 'resources/read', { uri }, options)
    } catch (error) {
      if (owners.length === 1 || !(error instanceof ProtocolError)) throw error
      refused ??= error
    }
  }
  throw refused ?? new HubError('not_found', `There is no resource ${uri}`)
}

/** Finds the server that completes an argument of a prompt or template, and its own `ref` for that. */
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
