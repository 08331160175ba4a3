/** How many things one source may do: `burst` at once, `perSecond` in the long run. */
export interface RateLimit {
  perSecond: number
  burst: number
}

/** A token bucket; the returned function takes one and says whether there was one. `now` is in milliseconds. */
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

/** Buckets by source, of which only the `most` that were used last are kept. */
export function createBuckets(limit: RateLimit, most = 10_000): (source: string, now: number) => boolean {
  const buckets = new Map<string, (now: number) => boolean>()
  let latest: { source: string; bucket: (now: number) => boolean } | undefined
  return (source, now) => {
    if (source === latest?.source) return latest.bucket(now)
    const bucket = buckets.get(source) ?? createBucket(limit)
    latest = { source, bucket }
    buckets.delete(source)
    buckets.set(source, bucket)
    const oldest = buckets.size > most ? buckets.keys().next().value : undefined
    if (oldest !== undefined) buckets.delete(oldest)
    return bucket(now)
  }
}
