import { z } from 'zod'
import type { Repair } from './repairs.ts'
import { repair } from './repairs.ts'

/** Keeps what helped, by provider and model; what it gives is not trusted. */
export interface QuirkStore {
  load(key: string): Promise<unknown>
  save(key: string, value: unknown): Promise<void>
}

/** A repair that helped, and when that was first seen, unix milliseconds. */
const quirks = z.array(z.object({ repair, since: z.number() })).catch([])
export type Quirk = z.infer<typeof quirks>[number]

/** A model may have changed by then. */
const FORGOTTEN_AFTER = 7 * 24 * 3_600_000

export interface Quirks {
  /** Those that are still believed. */
  current(): Promise<readonly Quirk[]>
  /** Those read so far. */
  readonly known: readonly Quirk[]
  keep(repairs: readonly Repair[]): Promise<void>
}

/** What is known of one model of one provider, read from `store` once. */
export function createQuirks(key: string, store: QuirkStore, now: () => number): Quirks {
  let read: Promise<void> | undefined
  let all: readonly Quirk[] = []
  const known = () => all.filter(({ since }) => now() - since < FORGOTTEN_AFTER)
  const load = async () => {
    all = quirks.parse(await store.load(key))
  }
  return {
    get known() {
      return known()
    },
    async current() {
      read ??= load()
      await read
      return known()
    },
    async keep(repairs) {
      const before = new Map(known().map(quirk => [JSON.stringify(quirk.repair), quirk]))
      all = repairs.map(one => before.get(JSON.stringify(one)) ?? { repair: one, since: now() })
      await store.save(key, all)
    },
  }
}
