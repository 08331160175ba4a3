import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { BUTTONS, REPLACES } from '../../schemas/message-buttons.ts'
import { type ForwardOptions, isObject, type JsonObject, type Requester } from '../core/forwarding.ts'
import type { Principal } from '../core/principal.ts'
import type { PendingElicitations } from './pending-elicitations.ts'
import type { McpView } from './requests.ts'
import { isLogged, LOG_LEVELS, LOG_MESSAGE, type LogLevel } from './upstream-servers.ts'

/** A client's self-description: of a legacy client in its session, else in each request. */
export interface SelfDescription {
  name: string
  capabilities: JsonObject
  logLevel: LogLevel | undefined
}

/** One request of a client, whichever way it arrived. */
export interface Caller {
  /** Key that is equal for all requests of one client. */
  key: string
  principal: Principal
  view: McpView
  client: SelfDescription
  /** The session of a legacy client; undefined for a client of 2026-07-28. */
  session:
    | {
        pages: ElicitedPages
        /** Sends the client a request, while it still waits for the answer to its own. */
        ask: Requester['ask']
      }
    | undefined
  signal: AbortSignal
  /** The request's `_meta`. */
  meta: JsonObject
  /** Fields of a repeated request: `inputResponses`, `requestState`. */
  repeat: JsonObject
  /** Sends a notification on the stream of the request. */
  notify(method: string, params: JsonObject): void
}

export interface ForwardDeps {
  pending: PendingElicitations
  /** Asks every server for log messages of this level and above. */
  setLogLevel: (level: LogLevel) => void
}

/** Tells whether a request goes on with one that waits for the client's answers. */
export function doesResume({ pending }: ForwardDeps, { session, repeat }: Caller): boolean {
  return !session && pending.owns(repeat['requestState'])
}

/** Returns what became of a request, in a word for records. */
export function outcomeOf(result: object): 'ok' | 'error' | 'asks' {
  if ('isError' in result && result.isError === true) return 'error'
  return 'resultType' in result && result.resultType === 'input_required' ? 'asks' : 'ok'
}

/**
 * Forwards a request of a client by `run`. A server's question meanwhile reaches the client in the way of its era: as a
 * request of its session, or as a result, after which the client repeats its request with the answers; only a request
 * of the same name (`what`) continues it.
 */
export async function forward(
  { pending, setLogLevel }: ForwardDeps,
  caller: Caller,
  what: string,
  run: (options: ForwardOptions) => Promise<object>,
): Promise<object> {
  const { client, session, signal, repeat } = caller
  if (!session) {
    if (client.logLevel) setLogLevel(client.logLevel)
    const { inputResponses, requestState } = repeat
    if (!pending.owns(requestState)) return pending.start(caller, what, run)
    const answers = isObject(inputResponses) ? inputResponses : {}
    return pending.resume(caller, what, requestState, answers)
  }
  const { pages } = session
  try {
    return await run({
      signal,
      ...toOptions(caller, () => caller, {
        repeats: false,
        ask: (method, params, asked) => {
          pages.add(params)
          return session.ask(method, params, AbortSignal.any([signal, asked]))
        },
      }),
    })
  } catch (error) {
    pages.addRequired(error)
    throw error
  }
}

/**
 * Returns the options with which a request is forwarded. `current` returns the client's request that takes
 * progress and log messages now, if there is one: the request itself, or its repetition.
 */
export function toOptions(
  { key, client: { capabilities, logLevel }, meta }: Caller,
  current: () => Caller | undefined,
  asking: Pick<Requester, 'ask' | 'repeats'>,
): ForwardOptions {
  const forwarded = Object.entries(meta).filter(([name]) => !OURS.has(name))
  return {
    requester: {
      key,
      capabilities,
      ...(logLevel === undefined ? {} : { logLevel }),
      log: params => {
        const caller = current()
        if (isLogged(params['level'], caller?.client.logLevel)) caller?.notify(LOG_MESSAGE, params)
      },
      ...asking,
    },
    ...(forwarded.length === 0 ? {} : { meta: Object.fromEntries(forwarded) }),
    ...(meta['progressToken'] === undefined
      ? {}
      : {
          onProgress: progress => {
            const caller = current()
            const progressToken = caller?.meta['progressToken']
            if (progressToken !== undefined)
              caller?.notify('notifications/progress', { ...progress, progressToken })
          },
        }),
  }
}

/** Keys of `_meta` that only the hub sets; of the others the trace's context matters most. */
const OURS: ReadonlySet<string> = new Set([
  'progressToken',
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
  BUTTONS,
  REPLACES,
])

/** Reads a client's self-description from the `_meta` of a request of 2026-07-28. */
export function describedBy(meta: JsonObject): SelfDescription {
  const level = meta[LOG_LEVEL_META_KEY]
  const { name = '', version = '' } = toObject(meta[CLIENT_INFO_META_KEY])
  return {
    name: `${name} ${version}`,
    capabilities: toObject(meta[CLIENT_CAPABILITIES_META_KEY]),
    logLevel: LOG_LEVELS.find(known => known === level),
  }
}

/** Returns the key that is equal for all requests of one client of 2026-07-28. */
export function toModernKey({ id }: Principal, { name }: SelfDescription): string {
  return `token:${id} ${name}`
}

export function toRepeat(inputResponses: unknown, requestState: unknown): JsonObject {
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  }
}

export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Notification by which a server reports that a page is done; clients of 2026-07-28 do not get it. */
export const PAGE_DONE = 'notifications/elicitation/complete'

/** Pages of one client that are remembered; above that the oldest is forgotten. */
const MOST_PAGES = 100

/** The pages that servers sent one client to, by id. The client is notified of the end of these only. */
export class ElicitedPages {
  readonly #ids = new Set<unknown>()

  /** Notes the page that the client is asked to open, if it is asked that. */
  add({ elicitationId }: JsonObject): void {
    if (typeof elicitationId !== 'string') return
    this.#ids.add(elicitationId)
    const [oldest] = this.#ids
    if (this.#ids.size > MOST_PAGES) this.#ids.delete(oldest)
  }

  /** Notes the pages that the client has to open first, if the error says so. */
  addRequired(error: unknown): void {
    if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired) return
    const { elicitations } = toObject(error.data)
    if (Array.isArray(elicitations)) for (const page of elicitations) this.add(toObject(page))
  }

  /** Tells whether a page is this client's, and forgets it. */
  end(id: unknown): boolean {
    return this.#ids.delete(id)
  }
}
