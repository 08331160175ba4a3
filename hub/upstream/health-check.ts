import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { decideBackoff } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { plural } from '../core/text.ts'
import { type Loss, withDeadline } from './loss.ts'
import { WAITS } from './restarts.ts'

/** The most pings of one check: a gateway that was busy may be so for a moment longer. */
const MOST_PINGS = 3
/** Milliseconds within which a live server answers a ping. */
const PING_MS = 10_000
/** Timeouts in a row after which a server counts as silent. */
const MANY_TIMEOUTS = 3
/** Milliseconds without another timeout after which it no longer counts as silent. */
const QUIET_MS = 5 * 60_000

export interface HealthCheckDeps {
  clock: Clock
  random: () => number
  log: Log
  /** Milliseconds that a call may take. */
  callTimeout: number
  /** Aborts when the connection ends. */
  signal: AbortSignal
  /** Pings the server; an error is an answer too. Rejects with the signal's reason if there is none. */
  ping: (signal: AbortSignal) => Promise<unknown>
  decideLoss: (error: unknown) => Loss
  /** Called when the server began or ceased to count as silent. */
  onChange: () => void
  /** Called with the reason when the server is gone, or no longer answers. */
  onLost: (error: unknown) => void
}

/**
 * Watches how the requests to one server end. It pings the server if they leave in doubt whether it is still
 * there. Other requests go on meanwhile.
 */
export class HealthCheck {
  readonly #deps: HealthCheckDeps
  #isPinging = false
  /** True if another request was answered since the pings began. */
  #isAnswered = false
  #timeouts = 0
  #cancelQuiet: () => void = () => undefined
  /** The reason why the server counts as silent; undefined while it does not. */
  silence: string | undefined

  constructor(deps: HealthCheckDeps) {
    this.#deps = deps
    deps.signal.addEventListener('abort', () => this.#cancelQuiet(), { once: true })
  }

  /** Notes that one of the hub's own requests was answered. */
  answered(): void {
    this.#isAnswered = true
  }

  /** Notes that a call was answered, with an error too: the server is not silent. */
  callAnswered(): void {
    this.#isAnswered = true
    this.#timeouts = 0
    if (this.silence === undefined) return
    this.silence = undefined
    this.#cancelQuiet()
    this.#deps.onChange()
  }

  callFailed(error: unknown): void {
    this.failed(error)
    if (this.#deps.signal.aborted) return
    if (!(error instanceof SdkError)) this.callAnswered()
    else if (error.code === SdkErrorCode.RequestTimeout) this.#timedOut()
  }

  /** Decides what a failed request says of the connection. */
  failed(error: unknown): void {
    const loss = this.#deps.decideLoss(error)
    if (loss === 'lost') this.#deps.onLost(error)
    else if (loss === 'in doubt') this.#begin(error, MOST_PINGS)
  }

  #timedOut(): void {
    const { callTimeout, clock } = this.#deps
    if (++this.#timeouts < MANY_TIMEOUTS) return
    const wasSilent = this.silence !== undefined
    const limit = Math.round(callTimeout / 1000)
    this.silence = `${plural(this.#timeouts, 'call')} in a row got no answer within ${limit} s`
    this.#cancelQuiet()
    this.#cancelQuiet = clock.after(QUIET_MS, () => this.callAnswered())
    if (wasSilent) return
    this.#deps.onChange()
    this.#begin(new Error(`${this.silence}, and neither did a ping`), 1)
  }

  #begin(error: unknown, mostSilentPings: number): void {
    if (this.#isPinging || this.#deps.signal.aborted) return
    this.#isPinging = true
    this.#isAnswered = false
    this.#check(error, mostSilentPings)
      .catch(cause => this.#deps.log.debug('check_ended', { error: cause }))
      .finally(() => {
        this.#isPinging = false
      })
  }

  /** Pings until the server answers; it is lost if so many pings get no answer. */
  async #check(first: unknown, mostSilentPings: number): Promise<void> {
    const { clock, random, signal, onLost } = this.#deps
    let error = first
    let mostPings = mostSilentPings
    for (let pings = 1; pings <= mostPings; pings++) {
      if (pings > 1) await sleep(clock, decideBackoff(pings - 1, WAITS, random), signal)
      const failure = await this.#ping(error)
      if (!failure || signal.aborted) return
      error = failure.error
      if (failure.loss === 'lost') break
      if (this.#isAnswered) return
      if (!failure.isSilent) mostPings = MOST_PINGS
    }
    onLost(error)
  }

  /** Pings once; returns undefined if the server answered, even with an error. */
  async #ping(why: unknown): Promise<{ loss: Loss; error: unknown; isSilent: boolean } | undefined> {
    const { clock, callTimeout, signal, ping, decideLoss } = this.#deps
    const limit = withDeadline(clock, Math.min(PING_MS, callTimeout), signal)
    try {
      await ping(limit.signal)
      return undefined
    } catch (error) {
      if (limit.signal.aborted) return { loss: 'in doubt', error: why, isSilent: true }
      const loss = decideLoss(error)
      return loss && { loss, error, isSilent: false }
    } finally {
      limit.cancel()
    }
  }
}
