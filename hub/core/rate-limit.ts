/** Limit for one source: `burst` actions at once, `perSecond` in the long run. */
export interface RateLimit {
  perSecond: number
  burst: number
}

/**
 * Creates a token bucket; the returned function takes a token and tells whether there was one. `now` is in
 * milliseconds.
 */
export function createBucket({ perSecond, burst }: RateLimit): (now: number) => boolean {
  let level = burst
  let last: number | undefined
  return now => {
    level = Math.min(burst, level + ((now - (last ?? now)) / 1000) * perSecond)
    last = now
    if (level < 1) return false
    level--
    return true
  }
}

/** Creates one bucket per source; only the `most` that were used last are kept. */
export function createBuckets(limit: RateLimit, most = 10_000): (source: string, now: number) => boolean {
  const buckets = new Map<string, (now: number) => boolean>()
  return (source, now) => {
    const bucket = buckets.get(source) ?? createBucket(limit)
    buckets.delete(source)
    buckets.set(source, bucket)
    const oldest = buckets.size > most ? buckets.keys().next().value : undefined
    if (oldest !== undefined) buckets.delete(oldest)
    return bucket(now)
  }
}
