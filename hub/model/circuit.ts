import { decideBackoff } from '../core/backoff.ts'

const OPEN = { first: 30_000, longest: 10 * 60_000 }

/** Permission for one call; the caller hands it back with the call's outcome. */
export interface Pass {
  /** True for the one call that finds out whether the provider is back. */
  readonly probe: boolean
}

/**
 * Tells whether one provider may be asked. The circuit opens when a provider fails for good. Once its time is
 * over, it is half open: one call probes, and the others wait for its outcome, whatever earlier calls report.
 */
export class Circuit {
  error: unknown
  readonly #now: () => number
  #failures = 0
  #until: number | undefined
  #probing: Pass | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  get state(): 'ok' | 'down' | 'trying' {
    if (this.#until === undefined) return 'ok'
    return this.#probing ? 'trying' : 'down'
  }

  /** Unix milliseconds at which the provider may be asked again; undefined where it may be asked now. */
  get retryAt(): number | undefined {
    if (this.#probing) return this.#now() + OPEN.first
    return this.#until !== undefined && this.#now() < this.#until ? this.#until : undefined
  }

  /** Returns undefined while the circuit is open, and while another call probes. */
  enter(): Pass | undefined {
    if (this.#until === undefined) return { probe: false }
    if (this.#probing || this.#now() < this.#until) return undefined
    this.#probing = { probe: true }
    return this.#probing
  }

  /** Records that the provider answered; true where that closes the circuit. */
  succeed(): boolean {
    const wasOpen = this.#until !== undefined
    this.close()
    return wasOpen
  }

  /** Records a failure that may pass; true where the call was the probe. */
  fail(pass: Pass, error: unknown, retryAfter?: number): boolean {
    if (this.#probing !== pass) return false
    this.#probing = undefined
    this.#openAnew(error, retryAfter)
    return true
  }

  /** Ends a call that told nothing about the provider. */
  leave(pass: Pass): void {
    if (this.#probing === pass) this.#probing = undefined
  }

  /** Opens the circuit. Calls that ran at the same time fail together, which counts as one failure. */
  open(error: unknown, retryAfter?: number): void {
    if (this.retryAt === undefined) this.#openAnew(error, retryAfter)
  }

  /** Forgets every failure. */
  close(): void {
    this.#failures = 0
    this.#until = undefined
    this.#probing = undefined
    this.error = undefined
  }

  #openAnew(error: unknown, retryAfter = 0): void {
    const own = decideBackoff(++this.#failures, OPEN)
    this.#until = this.#now() + Math.max(own, Math.min(OPEN.longest, retryAfter))
    this.error = error
  }
}
