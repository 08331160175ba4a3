import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { type ForwardOptions, isObject, type JsonObject } from '../core/forwarding.ts'
import { QUESTION_MS } from '../core/server-question.ts'
import { type Caller, toOptions } from './caller.ts'

const PREFIX = 'superbloom:'
/**
 * Milliseconds in which questions are gathered: a server that asks several things at once sends them one by
 * one, and the client gets them together.
 */
const GATHERED_MS = 50
/** Requests that may wait for an answer; above that the oldest is given up. */
const MOST = 200

type Run = (options: ForwardOptions) => Promise<object>

/**
 * Pending elicitations: requests of clients of 2026-07-28 to older servers. Such a server asks in the middle
 * of a call and waits; such a client gets the question as a result and repeats its request. Meanwhile the
 * call waits here.
 */
export class PendingElicitations implements Disposable {
  readonly #clock: Clock
  readonly #pending = new Map<string, Exchange>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Tells whether a client's `requestState` was issued here. */
  owns(state: unknown): state is string {
    return typeof state === 'string' && state.startsWith(PREFIX)
  }

  /** Starts a request; resolves with the result, or with what the client is asked for. */
  start(caller: Caller, what: string, run: Run): Promise<object> {
    return this.#wait(new Exchange(caller, what, run), caller)
  }

  /** Resumes a request after the client's answers. Throws `not_found` if no such one waits. */
  async resume(caller: Caller, what: string, state: string, answers: JsonObject): Promise<object> {
    const exchange = this.#pending.get(state)
    if (!exchange || exchange.owner !== caller.key || exchange.what !== what) {
      const why = 'This request waits for no answer any more'
      throw new HubError('not_found', `${why}: it was given up, or the hub was restarted. Call again.`)
    }
    this.#forget(exchange)
    exchange.take(answers)
    return this.#wait(exchange, caller)
  }

  [Symbol.dispose](): void {
    for (const exchange of [...this.#pending.values()])
      this.#giveUp(exchange, new HubError('unavailable', 'The hub stops'))
  }

  /** Waits until the result is there, or the server has asked something that is not answered yet. */
  async #wait(exchange: Exchange, caller: Caller): Promise<object> {
    const asked = Promise.withResolvers<undefined>()
    let cancelGathering: (() => void) | undefined
    const release = exchange.attach(caller, () => {
      cancelGathering ??= this.#clock.after(GATHERED_MS, () => asked.resolve(undefined))
    })
    try {
      const result = await Promise.race([exchange.result, asked.promise])
      if (result) return result
    } finally {
      cancelGathering?.()
      release()
    }
    this.#park(exchange)
    return exchange.toInputRequired()
  }

  #park(exchange: Exchange): void {
    this.#pending.set(exchange.state, exchange)
    exchange.cancelExpiry = this.#clock.after(QUESTION_MS, () =>
      this.#giveUp(exchange, new HubError('timeout', 'Nobody answered what the server asked')),
    )
    const [oldest] = this.#pending.values()
    if (this.#pending.size > MOST && oldest)
      this.#giveUp(oldest, new HubError('rate_limited', 'Too many requests wait for an answer at once'))
  }

  #giveUp(exchange: Exchange, reason: HubError): void {
    this.#forget(exchange)
    exchange.ended.abort(reason)
  }

  #forget(exchange: Exchange): void {
    this.#pending.delete(exchange.state)
    exchange.cancelExpiry?.()
  }
}

/** One request of a client with its repetitions, as a server sees it: one call. */
class Exchange {
  /** Unguessable id: a client that has it is the one that was asked. */
  readonly state = `${PREFIX}${randomUUID()}`
  readonly owner: string
  readonly what: string
  readonly ended = new AbortController()
  readonly result: Promise<object>
  cancelExpiry: (() => void) | undefined
  readonly #questions = new Map<
    string,
    { method: string; params: JsonObject; answer(result: JsonObject): void }
  >()
  #caller: Caller | undefined
  #onAsked: (() => void) | undefined
  #count = 0

  constructor(caller: Caller, what: string, run: Run) {
    this.owner = caller.key
    this.what = what
    this.#caller = caller
    this.result = run({
      signal: this.ended.signal,
      repeat: caller.repeat,
      ...toOptions(caller, () => this.#caller, {
        repeats: true,
        ask: (method, params, signal) => this.#ask(method, params, signal),
      }),
    })
  }

  /**
   * Attaches a waiting client, until the returned function is called. Calls `onAsked` when the server asks
   * something that is not answered yet.
   */
  attach(caller: Caller, onAsked: () => void): () => void {
    const { signal } = caller
    const onAbort = () => this.ended.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    this.#caller = caller
    this.#onAsked = onAsked
    if (this.#questions.size > 0) onAsked()
    return () => {
      this.#onAsked = undefined
      this.#caller = undefined
      signal.removeEventListener('abort', onAbort)
    }
  }

  toInputRequired(): object {
    const requests = [...this.#questions].map(
      ([key, { method, params }]) => [key, { method, params }] as const,
    )
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(requests),
      requestState: this.state,
    }
  }

  /** Hands answers to the questions; a question without an answer is asked again. */
  take(answers: JsonObject): void {
    for (const [key, question] of [...this.#questions]) {
      const answer = answers[key]
      if (!isObject(answer)) continue
      this.#questions.delete(key)
      question.answer(answer)
    }
  }

  async #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
    const key = `question-${++this.#count}`
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#questions.set(key, { method, params, answer: resolve })
    this.#onAsked?.()
    try {
      return await promise
    } finally {
      this.#questions.delete(key)
      signal.removeEventListener('abort', onAbort)
    }
  }
}
