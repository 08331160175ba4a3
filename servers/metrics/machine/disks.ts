import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import type { Disk, Disks } from './machine.ts'
import { type Mount, parseMounts } from './mounts.ts'
import { type Roots, readFirst } from './roots.ts'

const ANSWER_WITHIN = 2000

/**
 * Creates a reader of the disks' usage. A share that hangs blocks one of the process's few file threads until
 * it answers, so the reader awaits that answer and does not ask the share again.
 */
export function createDiskReader(
  roots: Roots,
  clock: Clock,
  ask: (path: string) => Promise<StatsFs> = statfs,
): () => Promise<Disks> {
  const asked = new Map<string, Promise<StatsFs>>()

  function askOnce({ mount }: Mount): Promise<StatsFs | undefined> {
    const answer = asked.get(mount) ?? ask(join(roots.host ?? '/', mount)).finally(() => asked.delete(mount))
    asked.set(mount, answer)
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const cancel = clock.after(ANSWER_WITHIN, () => resolve(undefined))
    return Promise.race([answer, late]).finally(cancel)
  }

  async function read(mount: Mount): Promise<Disk | 'gone' | 'silent'> {
    try {
      const stats = await askOnce(mount)
      return stats === undefined ? 'silent' : (toDisk(mount, stats) ?? 'gone')
    } catch {
      return 'gone' // unmounted meanwhile, or not readable for this user: there is nothing to report
    }
  }

  return async () => {
    const own = ['1/mountinfo', 'self/mountinfo'].map(name => join(roots.proc, name))
    const mounts = parseMounts(await readFirst(roots.host === undefined ? own.slice(1) : own))
    const found = await Promise.all(
      mounts.map(async mount => ({ mount: mount.mount, disk: await read(mount) })),
    )
    return {
      disks: found.flatMap(({ disk }) => (typeof disk === 'string' ? [] : [disk])),
      silent: found.flatMap(({ mount, disk }) => (disk === 'silent' ? [mount] : [])),
    }
  }
}

/** Counts as df(1): used of used and available, without the blocks that are reserved for root. */
function toDisk(mount: Mount, stats: StatsFs): Disk | undefined {
  if (stats.blocks === 0) return undefined
  const used = stats.blocks - stats.bfree
  const usable = used + stats.bavail
  return {
    ...mount,
    totalBytes: stats.blocks * stats.bsize,
    usedBytes: used * stats.bsize,
    freeBytes: stats.bavail * stats.bsize,
    percent: usable > 0 ? (used / usable) * 100 : 100,
    ...(stats.files > 0 ? { inodePercent: ((stats.files - stats.ffree) / stats.files) * 100 } : {}),
  }
}
