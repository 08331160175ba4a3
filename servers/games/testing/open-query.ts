import { systemClock } from '../../kit/clock.ts'
import type { Gamedig } from '../query/gamedig.ts'
import { createQuery, type QueryDeps, type QuerySettings } from '../query/query.ts'

/** A query of this machine, by the system's clock, unless told otherwise. */
export function openQuery(
  settings: Omit<QuerySettings, 'host'> & { host?: string },
  deps: Partial<QueryDeps> = {},
) {
  return createQuery({ host: '127.0.0.1', ...settings }, { clock: systemClock, ...deps })
}

/** Stands for gamedig where it must not be loaded. */
export async function neverLoaded(): Promise<Gamedig> {
  throw new Error('gamedig was loaded')
}
