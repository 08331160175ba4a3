import { z } from 'zod'
import { type Repair, repair } from './repairs.ts'

/** Keeps repairs that helped, by provider and model. What it loads is not trusted. */
export interface QuirkStore {
  load(key: string): Promise<unknown>
  save(key: string, value: unknown): Promise<void>
}

/** A repair that helped, and when that was first seen, unix milliseconds. */
const quirks = z.array(z.object({ repair, since: z.number() })).catch([])
export type Quirk = z.infer<typeof quirks>[number]

/** Milliseconds after which a quirk is forgotten, since the model may have changed. */
const FORGOTTEN_AFTER = 7 * 24 * 3_600_000

export interface Quirks {
  /** Returns the quirks that are not forgotten, and loads them the first time. */
  current(): Promise<readonly Quirk[]>
  /** Quirks that are loaded so far. */
  readonly known: readonly Quirk[]
  keep(repairs: readonly Repair[]): Promise<void>
}

/** Creates the quirks of one model of one provider, which are read from `store` once. */
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
