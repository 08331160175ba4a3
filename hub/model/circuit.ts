import { decideBackoff } from '../core/backoff.ts'

/** Times that a circuit stays open. */
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
export interface Circuit {
  /** Returns undefined while the circuit is open, and while another call probes. */
  enter(): Pass | undefined
  /** Records that the provider answered; true where that closes the circuit. */
  succeed(): boolean
  /** Records a failure that may pass; true where the call was the probe. */
  fail(pass: Pass, error: unknown, retryAfter?: number): boolean
  /** Ends a call that told nothing about the provider. */
  leave(pass: Pass): void
  open(error: unknown, retryAfter?: number): void
  /** Forgets every failure. */
  close(): void
  readonly state: 'ok' | 'down' | 'trying'
  /** Unix milliseconds at which the provider may be asked again; undefined where it may be asked now. */
  readonly retryAt: number | undefined
  /** Error of the last failure. */
  readonly error: unknown
}

export function createCircuit(now: () => number): Circuit {
  let failures = 0
  let until: number | undefined
  let probing: Pass | undefined
  let last: unknown
  const close = () => {
    failures = 0
    until = undefined
    probing = undefined
    last = undefined
  }
  const openAnew = (error: unknown, retryAfter = 0) => {
    const own = decideBackoff(++failures, OPEN)
    until = now() + Math.max(own, Math.min(OPEN.longest, retryAfter))
    last = error
  }
  return {
    enter() {
      if (until === undefined) return { probe: false }
      if (probing || now() < until) return undefined
      probing = { probe: true }
      return probing
    },
    succeed() {
      const wasOpen = until !== undefined
      close()
      return wasOpen
    },
    fail(pass, error, retryAfter) {
      if (probing !== pass) return false
      probing = undefined
      openAnew(error, retryAfter)
      return true
    },
    leave(pass) {
      if (probing === pass) probing = undefined
    },
    open(error, retryAfter) {
      // Calls that ran at the same time fail together, which counts as one failure.
      const isOpen = until !== undefined && now() < until
      if (!isOpen && !probing) openAnew(error, retryAfter)
    },
    close,
    get state() {
      if (until === undefined) return 'ok'
      return probing ? 'trying' : 'down'
    },
    get retryAt() {
      if (until === undefined || (!probing && now() >= until)) return undefined
      return probing ? now() + OPEN.first : until
    },
    get error() {
      return last
    },
  }
}
