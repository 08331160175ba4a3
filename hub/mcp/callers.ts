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

/** Milliseconds that a client may take for anything but a question to a person: models may write for long. */
const LONGEST_ANSWER_MS = 24 * 3_600_000

/** Returns how long a client may take to answer this method of a server, milliseconds. */
export function answerLimit(method: string): number {
  return method === ELICITATION ? QUESTION_MS : LONGEST_ANSWER_MS
}

const anyResult = z.looseObject({})

/** One request of a client, whichever way it arrived. */
export interface Caller {
  /** Key that is equal for all requests of one client. */
  key: string
  /** Self-description in this request; undefined for a legacy client, whose session has one. */
  declared: Declared | undefined
  /** Self-description of a legacy client's session, and the pages that the client was sent to. */
  session: { capabilities: JsonObject; logLevel: string | undefined; elicited: Elicited }
  signal: AbortSignal
  /** Controller of `signal`, if no other code has it. */
  ended?: AbortController
  /** The request's `_meta`. */
  meta: JsonObject
  /** Fields of a repeated request: `inputResponses`, `requestState`. */
  repeat: JsonObject
  notify(method: string, params: JsonObject): void
  /** Sends the client a request, while it still waits for the answer to its own. */
  send(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

/** The self-description that a client of 2026-07-28 sends with each request. */
export interface Declared {
  name: string
  capabilities: JsonObject
  logLevel: LogLevel | undefined
}

/**
 * Runs a request of a client: `run` forwards it. A server's question meanwhile reaches the client in the way
 * of its era: as a request of its session, or as a result, after which the client repeats its request with
 * the answers.
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

/** Returns the `_meta` without the keys that the hub sets itself; above all the trace's context is left. */
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

/** Reads the client's self-description from the `_meta` of a request of 2026-07-28. */
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

/** Creates the Caller of a request that the SDK's server hands on. */
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
