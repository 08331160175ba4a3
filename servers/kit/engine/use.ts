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

/** The processor's time that a container had used, at a time: nanoseconds, and unix milliseconds. */
export interface Look {
  at: number
  used: number
}

/**
 * Per cent of one core between two looks. By their times and not by the engine's `system_cpu_usage`: that is the time of all
 * cores together in Docker, and the time of day in Podman.
 */
export function toCpuPercent(before: Look, now: Look): number {
  const elapsed = now.at - before.at
  if (elapsed <= 0) return 0
  return Math.max(0, ((now.used - before.used) / (elapsed * 1_000_000)) * 100)
}

/** Undefined where there was no look: all is zero in Docker for what does not run, and in Podman's `precpu_stats`. */
function toLook(at: number | undefined, used: number | undefined): Look | undefined {
  return at === undefined || used === undefined || used === 0 ? undefined : { at, used }
}

/** As `docker stats` counts: without the inactive page cache (cgroup version 1 and 2 name it differently). */
function toMemory(
  memory:
    | { usage?: number | null | undefined; stats?: Record<string, unknown> | null | undefined }
    | undefined,
): number {
  const usage = memory?.usage ?? 0
  const cache = memory?.stats?.['total_inactive_file'] ?? memory?.stats?.['inactive_file']
  return typeof cache === 'number' && cache < usage ? usage - cache : usage
}
