import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { type Asker, type ForwardedProgress, isObject, type JsonObject } from '../core/forwarding.ts'
import { QUESTION_MS } from '../core/server-question.ts'

const PREFIX = 'superbloom:'
/** A server that asks several things at once sends them one after the other: the client gets them together. */
const GATHERED_MS = 50
/** Above this many that wait for an answer the oldest is given up. */
const MOST = 200

/** One request of a client, or its repetition: where progress and log messages go meanwhile. */
export interface Round {
  signal: AbortSignal
  /** What ends the request, where it is of no use to anybody else: it may outlive the round. */
  ended?: AbortController | undefined
  onProgress: ((progress: ForwardedProgress) => void) | undefined
  onLog: (params: JsonObject) => void
}

/** Who may repeat a request, and what it may be asked. */
export interface Party {
  key: string
  capabilities: JsonObject
  logLevel: string | undefined
}

type Run = (asker: Asker, signal: AbortSignal, onProgress: Round['onProgress']) => Promise<object>

interface Question {
  request: { method: string; params: JsonObject }
  answer(result: JsonObject): void
}

/**
 * Requests of clients of 2026-07-28 to servers of before: such a server asks in the middle of a call and waits, such a
 * client is asked by a result and repeats its request. Meanwhile the call waits here.
 */
export interface Parked extends Disposable {
  /** Resolves with the result, or with what the client is asked for. */
  begin(party: Party, round: Round, run: Run): Promise<object>
  /** Goes on with a request that `begin` asked something for. Throws `not_found` where it waits no longer. */
  resume(party: Party, round: Round, state: string, answers: JsonObject): Promise<object>
  /** Whether a client's `requestState` is of here. */
  owns(state: unknown): state is string
}

export function createParked(clock: Clock): Parked {
  const waiting = new Map<string, Exchange>()
  const forget = (exchange: Exchange) => {
    waiting.delete(exchange.state)
    exchange.cancelExpiry?.()
  }
  /** Until the result is there, or the server asks. */
  const turn = (exchange: Exchange, round: Round): Promise<object> => {
    const { promise, resolve, reject } = Promise.withResolvers<object>()
    let cancelGathering: (() => void) | undefined
    const release = exchange.begin(round, () => {
      cancelGathering ??= clock.after(GATHERED_MS, () => {
        release()
        park(exchange)
        resolve(exchange.toRequest())
      })
    })
    const end = () => {
      cancelGathering?.()
      release()
    }
    exchange.result.then(
      result => {
        end()
        resolve(result)
      },
      error => {
        end()
        reject(error)
      },
    )
    return promise
  }
  const park = (exchange: Exchange) => {
    waiting.set(exchange.state, exchange)
    exchange.cancelExpiry = clock.after(QUESTION_MS, () => {
      forget(exchange)
      exchange.ended.abort(new HubError('timeout', 'Nobody answered what the server asked'))
    })
    const [oldest] = waiting.values()
    if (waiting.size <= MOST || !oldest) return
    forget(oldest)
    oldest.ended.abort(new HubError('rate_limited', 'Too many requests wait for an answer at once'))
  }
  return {
    owns: (state): state is string => typeof state === 'string' && state.startsWith(PREFIX),
    begin(party, round, run) {
      const exchange = new Exchange(party, round, run)
      return turn(exchange, round)
    },
    async resume(party, round, state, answers) {
      const exchange = waiting.get(state)
      if (!exchange || exchange.party.key !== party.key) {
        const why = 'This request waits for no answer any more'
        throw new HubError('not_found', `${why}: it was given up, or the hub was restarted. Call again.`)
      }
      forget(exchange)
      exchange.take(answers)
      return turn(exchange, round)
    },
    [Symbol.dispose]() {
      for (const exchange of [...waiting.values()]) {
        forget(exchange)
        exchange.ended.abort(new HubError('unavailable', 'The hub stops'))
      }
    },
  }
}

class Exchange {
  readonly party: Party
  readonly ended: AbortController
  readonly result: Promise<object>
  cancelExpiry: (() => void) | undefined
  readonly #questions = new Map<string, Question>()
  #state: string | undefined
  #round: Round | undefined
  #onAsked: (() => void) | undefined
  #count = 0

  constructor(party: Party, round: Round, run: Run) {
    this.party = party
    this.ended = round.ended ?? new AbortController()
    this.#round = round
    const { key, capabilities, logLevel } = party
    const asker: Asker = {
      key,
      capabilities,
      repeats: true,
      ...(logLevel === undefined ? {} : { logLevel }),
      ask: (method, params, signal) => this.#ask(method, params, signal),
      log: params => this.#round?.onLog(params),
    }
    const onProgress =
      round.onProgress && ((progress: ForwardedProgress) => this.#round?.onProgress?.(progress))
    this.result = run(asker, this.ended.signal, onProgress)
  }

  /** Unguessable: who has it was asked. */
  get state(): string {
    this.#state ??= `${PREFIX}${randomUUID()}`
    return this.#state
  }

  /** A client waits. Calls `onAsked` when the server asks something that is not answered yet, until it is released. */
  begin(round: Round, onAsked: () => void): () => void {
    const { signal } = round
    const onAbort = () => this.ended.abort(signal.reason)
    const isOwn = signal === this.ended.signal
    if (!isOwn) signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    this.#round = round
    this.#onAsked = onAsked
    if (this.#questions.size > 0) onAsked()
    return () => {
      if (this.#onAsked !== onAsked) return
      this.#onAsked = undefined
      this.#round = undefined
      if (!isOwn) signal.removeEventListener('abort', onAbort)
    }
  }

  toRequest(): object {
    const asked = [...this.#questions].map(([key, { request }]) => [key, request] as const)
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(asked),
      requestState: this.state,
    }
  }

  /** Hands answers to those who asked; what is not answered is asked again. */
  take(answers: JsonObject): void {
    for (const [key, question] of [...this.#questions]) {
      const answer = answers[key]
      if (isObject(answer)) question.answer(answer)
    }
  }

  #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const key = `question-${++this.#count}`
    const end = (settle: () => void) => {
      this.#questions.delete(key)
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = () => end(() => reject(signal.reason))
    signal.addEventListener('abort', onAbort, { once: true })
    this.#questions.set(key, {
      request: { method, params },
      answer: result => end(() => resolve(result)),
    })
    this.#onAsked?.()
    return promise
  }
}
