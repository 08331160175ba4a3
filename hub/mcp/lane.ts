import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import type { Clock } from '../core/clock.ts'
import type { Deadlines } from '../core/deadlines.ts'
import { describeError, HubError } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import { Register } from '../core/register.ts'
import type { Below } from './below.ts'
import { answerLimit, type Caller, runFor } from './callers.ts'
import { createElicited, type Elicited } from './elicited.ts'
import type { LaneCall, ModernCall } from './lane-call.ts'
import type { Parked } from './parked.ts'
import { createReply, type Reply } from './reply.ts'

/** Prefix of the ids of questions that the fast path asks clients. */
const QUESTION = 'lane-question-'

/** A call that is being served. */
interface LaneFlight {
  id: string | number
  ended: AbortController
}

/** The fast path's state of a legacy client's session. */
export interface LaneSession {
  key: string
  /** Calls that it has made, which number their streams. */
  made: number
  capabilities: JsonObject
  logLevel: string | undefined
  elicited: Elicited
  calls: Register<LaneFlight>
  /** Open questions to the client, by id. */
  questions: Map<string, PromiseWithResolvers<JsonObject>>
  /** Its latest answers that are streams, by the prefix of their events' ids. */
  streams: Map<string, Reply>
}

/** Creates the state of a session with nothing in flight. */
export function createLane(key: string, elicited: Elicited): LaneSession {
  return {
    key,
    made: 0,
    capabilities: {},
    logLevel: undefined,
    elicited,
    calls: new Register(),
    questions: new Map(),
    streams: new Map(),
  }
}

/** Streams of a session, and characters of them, that can be resumed; above that the oldest is dropped. */
const MOST_STREAMS = 50
const MOST_CHARACTERS = 4 * 1024 * 1024

export interface LaneDeps {
  clock: Clock
  firstSigns: Deadlines
  below: Below
  parked: Parked
  serverInfo: object
}

/**
 * Serves a call on the fast path, for what a hub does most: forwards it to the server as it came, and the
 * result as it came back, without the SDK's server in between. A request that is not plainly right takes the
 * long way, which says what is wrong.
 */
export async function serveCall(
  deps: LaneDeps,
  session: LaneSession,
  call: LaneCall,
  response: ServerResponse,
): Promise<void> {
  const { calls, streams } = session
  const stream = `lane-${++session.made}`
  const onStream = (made: Reply) => keepStream(streams, stream, made)
  const reply = createReply(response, {
    clock: deps.clock,
    firstSigns: deps.firstSigns,
    stream,
    primes: call.primes,
    onStream,
  })
  const ended = new AbortController()
  const { signal } = ended
  const number = calls.add({ id: call.id, ended })
  const caller: Caller = {
    key: session.key,
    declared: undefined,
    session,
    signal,
    meta: call.meta,
    repeat: call.repeat,
    notify: (method, params) => reply.send({ jsonrpc: '2.0', method, params }),
    send: (method, params, asked) => ask(deps, session, { reply, method, params, asked }),
  }
  await run(deps, caller, call, reply)
  calls.delete(number)
  // A cancelled call has no answer, and its client would come back for it again and again.
  if (signal.aborted) streams.delete(stream)
}

/** Serves a call of a client of 2026-07-28, which has no session: each of its calls stands for itself. */
export function serveModernCall(
  deps: LaneDeps,
  token: string,
  { declared, ...call }: ModernCall,
  response: ServerResponse,
): Promise<void> {
  const ended = new AbortController()
  // A client of 2026-07-28 that closes the stream wants no answer any more; an older one may only have lost
  // its connection.
  const onLost = () => ended.abort(new Error('The client went away'))
  const { clock, firstSigns } = deps
  const reply = createReply(response, { clock, firstSigns, onLost })
  const caller: Caller = {
    key: `token:${token}`,
    declared,
    session: NO_SESSION,
    signal: ended.signal,
    ended,
    meta: call.meta,
    repeat: call.repeat,
    notify: (method, params) => reply.send({ jsonrpc: '2.0', method, params }),
    send: refuseQuestion,
  }
  return run(deps, caller, call, reply)
}

const NO_SESSION = { capabilities: {}, logLevel: undefined, elicited: createElicited() }

/** Refuses: a client of 2026-07-28 gets questions as results. */
function refuseQuestion(): Promise<never> {
  return Promise.reject(new Error('A client of 2026-07-28 takes no requests'))
}

/** Keeps a stream and drops the oldest. The newest stays whatever it holds: its own events are bounded. */
function keepStream(streams: Map<string, Reply>, stream: string, reply: Reply): void {
  streams.set(stream, reply)
  let characters = 0
  for (const { kept } of streams.values()) characters += kept
  for (const [oldest, { kept }] of streams) {
    if (streams.size <= MOST_STREAMS && (characters <= MOST_CHARACTERS || streams.size === 1)) return
    streams.delete(oldest)
    characters -= kept
  }
}

/** Resumes an answer whose connection broke; false if the answer is not the fast path's. */
export function resumeStream(
  session: LaneSession,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const lastEventId = request.headers['last-event-id']
  if (request.method !== 'GET' || typeof lastEventId !== 'string') return false
  const reply = session.streams.get(lastEventId.slice(0, lastEventId.lastIndexOf('~')))
  reply?.resume(response, lastEventId)
  return reply !== undefined
}

/** Takes an answer to a question, or a cancellation; false for a message that is not the fast path's. */
export function takeMessage(session: LaneSession, body: unknown): boolean {
  if (!isObject(body)) return false
  if (body['method'] === 'notifications/cancelled' && isObject(body['params'])) {
    const { requestId, reason } = body['params']
    const call = session.calls.values().find(({ id }) => id === requestId)
    call?.ended.abort(new Error(typeof reason === 'string' ? reason : 'The client cancelled it'))
    return call !== undefined
  }
  const { id, result, error } = body
  const question =
    typeof id === 'string' && 'method' in body === false ? session.questions.get(id) : undefined
  if (!question) return false
  if (isObject(result)) question.resolve(result)
  else {
    const { code, message, data } = isObject(error) ? error : {}
    question.reject(new ProtocolError(Number(code) || ProtocolErrorCode.InternalError, String(message), data))
  }
  return true
}

/** Ends everything that a session has in flight. */
export function endLane(session: LaneSession, reason: Error): void {
  for (const { ended } of session.calls.values()) ended.abort(reason)
  for (const question of session.questions.values()) question.reject(reason)
}

async function run(
  { below, parked, serverInfo }: LaneDeps,
  caller: Caller,
  { id, name, args }: LaneCall,
  reply: Reply,
): Promise<void> {
  const { declared } = caller
  try {
    if (declared?.logLevel) below.setLogLevel(declared.logLevel)
    const running = runFor(parked, caller, options => below.call(name, args, options))
    reply.begin()
    const result = await running
    reply.end({ jsonrpc: '2.0', id, result: declared ? toModern(result, serverInfo) : toLegacy(result) })
  } catch (error) {
    // A cancelled request gets no answer.
    if (caller.signal.aborted) return reply.end(undefined)
    const failure = toFailure(error)
    if (!(failure instanceof ProtocolError)) {
      return reply.end({ jsonrpc: '2.0', id, result: declared ? toModern(failure, serverInfo) : failure })
    }
    const { code, message, data } = failure
    const isLacking = declared && code === ProtocolErrorCode.MissingRequiredClientCapability
    reply.end(
      { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } },
      isLacking ? 400 : 200,
    )
  }
}

interface Asked {
  reply: Reply
  method: string
  params: JsonObject
  asked: AbortSignal
}

/** Asks the client of a session something for a server, on the stream of its call. */
async function ask(
  { clock }: LaneDeps,
  { questions }: LaneSession,
  { reply, method, params, asked }: Asked,
): Promise<JsonObject> {
  // The id is unlike any of an earlier session: the bridge's client does not notice a new session.
  const id = `${QUESTION}${randomUUID()}`
  const question = Promise.withResolvers<JsonObject>()
  const giveUp = (reason: string, error: unknown) => {
    reply.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } })
    question.reject(error)
  }
  const onAbort = () => giveUp('Nobody waits for the answer any more', asked.reason)
  const limit = answerLimit(method)
  const cancelLimit = clock.after(limit, () => {
    const why = `Nobody answered within ${limit / 60_000} minutes`
    giveUp(why, new HubError('timeout', why))
  })
  questions.set(id, question)
  asked.addEventListener('abort', onAbort, { once: true })
  reply.send({ jsonrpc: '2.0', id, method, params })
  try {
    return await question.promise
  } finally {
    cancelLimit()
    asked.removeEventListener('abort', onAbort)
    questions.delete(id)
  }
}

/** Returns what went wrong with a call, as the protocol's error or as a result that a model reads. */
export function toFailure(error: unknown): ProtocolError | CallToolResult {
  if (error instanceof ProtocolError) return error
  if (error instanceof HubError && error.code === 'not_found')
    return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  return { content: [{ type: 'text', text: describeError(error) }], isError: true }
}

function toModern(result: object, serverInfo: object): object {
  const meta = '_meta' in result && isObject(result._meta) ? result._meta : {}
  return { resultType: 'complete', ...result, _meta: { [SERVER_INFO_META_KEY]: serverInfo, ...meta } }
}

function toLegacy(result: object): object {
  if (!('resultType' in result)) return result
  const { resultType: _, ...rest } = result
  return rest
}
