import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type ForwardOptions, isObject, type JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { ELICITATION, QUESTION_MS } from '../core/server-question.ts'
import { isLogged, LOG_LEVELS, LOG_MESSAGE, type LogLevel } from './below.ts'
import type { Elicited } from './elicited.ts'
import type { Parked, Round } from './parked.ts'

/** How long a client may take for anything but a question to a person: what its model writes may be long in coming. */
const LONGEST_ANSWER_MS = 24 * 3_600_000

/** How long a client may take to answer what a server asks by this method, milliseconds. */
export function answerLimit(method: string): number {
  return method === ELICITATION ? QUESTION_MS : LONGEST_ANSWER_MS
}

const anyResult = z.looseObject({})

/** One request of a client, whichever way it came in. */
export interface Caller {
  /** Equal for all requests of one client. */
  key: string
  /** What it said of itself with this request; undefined for one that said it once, at the beginning of its session. */
  declared: Declared | undefined
  /** What such a session said. */
  session: { capabilities: JsonObject; logLevel: string | undefined; elicited: Elicited }
  signal: AbortSignal
  /** What `signal` is of, where nobody else has it. */
  ended?: AbortController
  /** The request's `_meta`. */
  meta: JsonObject
  /** What a repeated request brings: `inputResponses`, `requestState`. */
  repeat: JsonObject
  notify(method: string, params: JsonObject): void
  /** Sends the client a request, while it still waits for the answer to its own. */
  send(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

/** What a client of 2026-07-28 says of itself with each request. */
export interface Declared {
  name: string
  capabilities: JsonObject
  logLevel: LogLevel | undefined
}

/**
 * Runs a request of a client: `run` forwards it. What a server asks meanwhile reaches the client in the way of its
 * era: as a request of its session, or as a result that it repeats its request with the answers for.
 */
export function runFor(
  parked: Parked,
  caller: Caller,
  run: (options: ForwardOptions) => Promise<object>,
): Promise<object> {
  const { declared, repeat } = caller
  const round = toRound(caller)
  const meta = metaOf(caller)
  if (!declared) {
    return run({ ...legacyOptions(caller, round), ...meta }).catch(error => {
      caller.session.elicited.failed(error)
      throw error
    })
  }
  const { capabilities, logLevel } = declared
  const party = { key: `${caller.key} ${declared.name}`, capabilities, logLevel }
  const { inputResponses, requestState } = repeat
  if (parked.owns(requestState)) {
    return parked.resume(party, round, requestState, isObject(inputResponses) ? inputResponses : {})
  }
  return parked.begin(party, round, (asker, signal, onProgress) =>
    run({ asker, signal, repeat, ...meta, ...(onProgress ? { onProgress } : {}) }),
  )
}

function legacyOptions(caller: Caller, { signal, onProgress, onLog }: Round): ForwardOptions {
  const { capabilities, logLevel, elicited } = caller.session
  return {
    signal,
    ...(onProgress ? { onProgress } : {}),
    asker: {
      key: caller.key,
      capabilities,
      repeats: false,
      ...(logLevel === undefined ? {} : { logLevel }),
      log: onLog,
      ask: (method, params, asked) => {
        elicited.asked(params)
        return caller.send(method, params, AbortSignal.any([signal, asked]))
      },
    },
  }
}

function toRound(caller: Caller): Round {
  const { progressToken } = caller.meta
  const { logLevel } = caller.declared ?? caller.session
  return {
    signal: caller.signal,
    ended: caller.ended,
    onProgress:
      progressToken === undefined
        ? undefined
        : progress => caller.notify('notifications/progress', { ...progress, progressToken }),
    onLog: params => {
      if (isLogged(params['level'], logLevel)) caller.notify(LOG_MESSAGE, params)
    },
  }
}

/** What a request's `_meta` says beyond what the hub sets itself: the trace's context above all. */
function metaOf({ meta }: Caller): { meta: JsonObject } | undefined {
  if (Object.keys(meta).every(key => OURS.has(key))) return undefined
  return { meta: Object.fromEntries(Object.entries(meta).filter(([key]) => !OURS.has(key))) }
}

const OURS: ReadonlySet<string> = new Set([
  'progressToken',
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
])

/** What the `_meta` of a request of 2026-07-28 says of its client. */
export function declaredBy(envelope: JsonObject): Declared {
  const level = envelope[LOG_LEVEL_META_KEY]
  const { name = '', version = '' } = toObject(envelope[CLIENT_INFO_META_KEY])
  return {
    name: `${name} ${version}`,
    capabilities: toObject(envelope[CLIENT_CAPABILITIES_META_KEY]),
    logLevel: LOG_LEVELS.find(known => known === level),
  }
}

export function toRepeat(inputResponses: unknown, requestState: unknown): JsonObject {
  return {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  }
}

/** A request that the SDK's server hands on. */
export function toCaller(
  { mcpReq }: ServerContext,
  session: { key: string; server: Server; logLevel: string | undefined; elicited: Elicited },
  log: Log,
): Caller {
  const { envelope, inputResponses } = mcpReq
  const requestState = mcpReq.requestState()
  return {
    key: session.key,
    declared: envelope && declaredBy({ ...envelope }),
    session: {
      capabilities: toObject(session.server.getClientCapabilities()),
      logLevel: session.logLevel,
      elicited: session.elicited,
    },
    signal: mcpReq.signal,
    meta: { ...mcpReq._meta },
    repeat: toRepeat(inputResponses, requestState),
    notify: (method, params) => {
      mcpReq.notify({ method, params }).catch(error => log.debug('notice_not_sent', { method, error }))
    },
    send: (method, params, signal) =>
      mcpReq.send({ method, params }, anyResult, { signal, timeout: answerLimit(method) }),
  }
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
