import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { type Asker, type ForwardedProgress, isObject, type JsonObject } from '../core/forwarding.ts'
import { QUESTION_MS } from '../core/server-question.ts'

const PREFIX = 'superbloom:'
/**
 * Milliseconds in which questions are gathered: a server that asks several things at once sends them one by
 * one, and the client gets them together.
 */
const GATHERED_MS = 50
/** Calls that may wait for an answer; above that the oldest is given up. */
const MOST = 200

/** One request of a client, or its repetition; it takes the progress and log messages meanwhile. */
export interface Round {
  signal: AbortSignal
  /** Controller of `signal`, if nobody else uses that: the call may outlive the round and keeps it. */
  ended?: AbortController | undefined
  onProgress: ((progress: ForwardedProgress) => void) | undefined
  onLog: (params: JsonObject) => void
}

/** The principal that may repeat a request, and what it may be asked. */
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
 * Pending elicitations: requests of clients of 2026-07-28 to older servers. Such a server asks in the middle
 * of a call and waits; such a client gets the question as a result and repeats its request. Meanwhile the
 * call waits here.
 */
export interface Parked extends Disposable {
  /** Starts a request; resolves with the result, or with what the client is asked for. */
  begin(party: Party, round: Round, run: Run): Promise<object>
  /** Resumes a request after the client's answers. Throws `not_found` if it waits no longer. */
  resume(party: Party, round: Round, state: string, answers: JsonObject): Promise<object>
  /** Tells whether a client's `requestState` was issued here. */
  owns(state: unknown): state is string
}

export function createParked(clock: Clock): Parked {
  const waiting = new Map<string, Exchange>()
  const forget = (exchange: Exchange) => {
    waiting.delete(exchange.state)
    exchange.cancelExpiry?.()
  }
  /** Waits until the result is there, or the server asks. */
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

  /** Unguessable id: a client that has it is the one that was asked. */
  get state(): string {
    this.#state ??= `${PREFIX}${randomUUID()}`
    return this.#state
  }

  /**
   * Attaches a waiting client. Calls `onAsked` when the server asks something that is not answered yet, until
   * it is released.
   */
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

  /** Hands answers to the questions; a question without an answer is asked again. */
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
