import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { ForwardedProgress, ForwardOptions, JsonObject } from '../core/forwarding.ts'
import { isObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { isLogged, LOG_LEVELS } from './below.ts'
import type { Parked, Round } from './parked.ts'

/** Persons answer: a question may stay open for as long as they take. */
const QUESTION_TIMEOUT_MS = 24 * 3_600_000

const anyResult = z.looseObject({})

export interface CallerDeps {
  log: Log
  parked: Parked
}

/** A client's connection, as far as its requests need it. */
export interface CallerSession {
  /** Equal for all requests of one client. */
  key: string
  server: Server
  /** What a legacy client set; others say it with each request. */
  readonly logLevel: string | undefined
}

/**
 * Runs a request of a client: `run` forwards it. What a server asks meanwhile reaches the client in the way of its
 * era: as a request of its session, or as a result that it repeats its request with the answers for.
 */
export function runFor(
  deps: CallerDeps,
  session: CallerSession,
  context: ServerContext,
  run: (options: ForwardOptions) => Promise<object>,
): Promise<object> {
  const round = toRound(deps, session, context)
  const meta = metaOf(context)
  const { inputResponses } = context.mcpReq
  const declared = declaredBy(context)
  if (!declared) return run({ ...legacyOptions(session, context, round), ...meta })
  const state = context.mcpReq.requestState()
  const party = { ...declared, key: `${session.key} ${declared.name}` }
  if (deps.parked.owns(state)) return deps.parked.resume(party, round, state, inputResponses ?? {})
  const repeat = {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  }
  return deps.parked.begin(party, round, (asker, signal, onProgress) =>
    run({ asker, signal, repeat, ...meta, ...(onProgress ? { onProgress } : {}) }),
  )
}

function legacyOptions(
  { key, server, logLevel }: CallerSession,
  { mcpReq }: ServerContext,
  { signal, onProgress, onLog }: Round,
): ForwardOptions {
  return {
    signal,
    ...(onProgress ? { onProgress } : {}),
    asker: {
      key,
      capabilities: toObject(server.getClientCapabilities()),
      repeats: false,
      ...(logLevel === undefined ? {} : { logLevel }),
      log: onLog,
      ask: (method, params, asked) =>
        mcpReq.send({ method, params }, anyResult, {
          signal: AbortSignal.any([signal, asked]),
          timeout: QUESTION_TIMEOUT_MS,
        }),
    },
  }
}

function toRound(
  { log }: CallerDeps,
  session: CallerSession,
  { mcpReq }: Pick<ServerContext, 'mcpReq'>,
): Round {
  const progressToken = mcpReq._meta?.progressToken
  const wanted = declaredBy({ mcpReq })?.logLevel ?? session.logLevel
  const notify = (method: string, params: JsonObject) => {
    mcpReq.notify({ method, params }).catch(error => log.debug('notice_not_sent', { method, error }))
  }
  return {
    signal: mcpReq.signal,
    onProgress:
      progressToken === undefined
        ? undefined
        : (progress: ForwardedProgress) => notify('notifications/progress', { ...progress, progressToken }),
    onLog: params => {
      if (isLogged(params['level'], wanted)) notify('notifications/message', params)
    },
  }
}

/** What a client of 2026-07-28 says of itself with each request; undefined for others, which said it once. */
export function declaredBy({ mcpReq }: Pick<ServerContext, 'mcpReq'>) {
  const envelope: JsonObject | undefined = mcpReq.envelope && { ...mcpReq.envelope }
  if (!envelope) return undefined
  const level = envelope[LOG_LEVEL_META_KEY]
  const { name = '', version = '' } = toObject(envelope[CLIENT_INFO_META_KEY])
  return {
    name: `${name} ${version}`,
    capabilities: toObject(envelope[CLIENT_CAPABILITIES_META_KEY]),
    logLevel: LOG_LEVELS.find(known => known === level),
  }
}

/** What a request's `_meta` says beyond what the hub sets itself: the trace's context above all. */
function metaOf({ mcpReq }: ServerContext): { meta?: JsonObject } {
  const { progressToken, ...meta } = mcpReq._meta ?? {}
  return Object.keys(meta).length > 0 ? { meta } : {}
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
