/** How long a provider that failed is left alone: longer each time that it fails again. */
const FIRST_OPEN_MS = 30_000
const LONGEST_OPEN_MS = 10 * 60_000

/** The leave to ask once; hand it back with what came of it. */
export interface Pass {
  /** The one call that finds out whether the provider is back. */
  readonly probe: boolean
}

/**
 * Whether one provider may be asked. Open after a failure for good, half open once its time is over: then one call
 * finds out, and the others wait for what it finds, whatever becomes of calls from before.
 */
export interface Circuit {
  /** Undefined while it is open, and while another call finds out. */
  enter(): Pass | undefined
  /** The provider answered; true where that closes it. */
  succeed(): boolean
  /** The call failed in a way that may pass; true where it was the one that had to find out. */
  fail(pass: Pass, error: unknown, retryAfter?: number): boolean
  /** The call ended without telling anything of the provider. */
  leave(pass: Pass): void
  open(error: unknown, retryAfter?: number): void
  /** Forgets every failure. */
  close(): void
  readonly state: 'ok' | 'down' | 'trying'
  /** When it may be asked again; undefined for now. */
  readonly retryAt: number | undefined
  /** What it failed with last. */
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
    const own = FIRST_OPEN_MS * 2 ** failures++
    until = now() + Math.min(LONGEST_OPEN_MS, Math.max(own, retryAfter))
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
      // Calls that were under way together fail together: that is one failure.
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
      return probing ? now() + FIRST_OPEN_MS : until
    },
    get error() {
      return last
    },
  }
}
