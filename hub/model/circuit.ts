/** How long a provider that failed is left alone: longer each time that it fails again. */
const FIRST_OPEN_MS = 30_000
const LONGEST_OPEN_MS = 10 * 60_000

/**
 * Whether one provider may be asked. Open after a failure for good, half open once its time is over: then one call
 * finds out, and the others wait for what it finds.
 */
export interface Circuit {
  /** Takes the leave to ask; false while it is open, or while another call finds out. */
  enter(): boolean
  /** The provider answered; true where that closes it. */
  succeed(): boolean
  /** The call failed in a way that may pass; true where it was the one that had to find out. */
  fail(error: unknown, retryAfter?: number): boolean
  /** The call ended without telling anything of the provider. */
  leave(): void
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
  let probing = false
  let last: unknown
  const close = () => {
    failures = 0
    until = undefined
    probing = false
    last = undefined
  }
  const open = (error: unknown, retryAfter = 0) => {
    // Calls that were under way together fail together: that is one failure.
    if (until !== undefined && !probing && now() < until) return
    probing = false
    const own = FIRST_OPEN_MS * 2 ** failures++
    until = now() + Math.min(LONGEST_OPEN_MS, Math.max(own, retryAfter))
    last = error
  }
  return {
    enter() {
      if (until === undefined) return true
      if (probing || now() < until) return false
      probing = true
      return true
    },
    succeed() {
      const wasOpen = until !== undefined
      close()
      return wasOpen
    },
    fail(error, retryAfter) {
      if (!probing) return false
      open(error, retryAfter)
      return true
    },
    leave() {
      probing = false
    },
    open,
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
