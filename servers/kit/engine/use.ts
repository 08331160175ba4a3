import { z } from 'zod'
import { parseTime } from '../clock.ts'

const look = z
  .object({ cpu_usage: z.object({ total_usage: z.number().nullish() }).nullish() })
  .nullish()
  .transform(found => found?.cpu_usage?.total_usage ?? undefined)
const time = z
  .string()
  .nullish()
  .transform(text => (text ? parseTime(text) : undefined))

/** GET /containers/NAME/stats. */
export const statsAnswer = z
  .object({
    read: time,
    preread: time,
    cpu_stats: look,
    precpu_stats: look,
    memory_stats: z
      .object({
        usage: z.number().nullish(),
        stats: z.record(z.string(), z.unknown()).nullish(),
      })
      .nullish(),
  })
  .transform(found => ({
    now: toLook(found.read, found.cpu_stats),
    before: toLook(found.preread, found.precpu_stats),
    memoryBytes: toMemory(found.memory_stats ?? undefined),
  }))
export type Stats = z.output<typeof statsAnswer>

/** A sample of a container's CPU time: `at` in unix milliseconds, `used` in nanoseconds. */
export interface Look {
  at: number
  used: number
}

/**
 * Returns per cent of one core between two samples. It uses their times and not the engine's
 * `system_cpu_usage`: that is the time of all cores together in Docker, and the time of day in Podman.
 */
export function toCpuPercent(before: Look, now: Look): number {
  const elapsed = now.at - before.at
  if (elapsed <= 0) return 0
  return Math.max(0, ((now.used - before.used) / (elapsed * 1_000_000)) * 100)
}

/**
 * Returns a sample; undefined if there was none: Docker sends zeros for a stopped container, and Podman in
 * `precpu_stats`.
 */
function toLook(at: number | undefined, used: number | undefined): Look | undefined {
  return at === undefined || used === undefined || used === 0 ? undefined : { at, used }
}

/**
 * Counts memory as `docker stats` does: without the inactive page cache (cgroup versions 1 and 2 name it
 * differently).
 */
function toMemory(
  memory:
    | { usage?: number | null | undefined; stats?: Record<string, unknown> | null | undefined }
    | undefined,
): number {
  const usage = memory?.usage ?? 0
  const cache = memory?.stats?.['total_inactive_file'] ?? memory?.stats?.['inactive_file']
  return typeof cache === 'number' && cache < usage ? usage - cache : usage
}
