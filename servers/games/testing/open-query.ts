import { systemClock } from '../../kit/clock.ts'
import type { Gamedig } from '../upstreams/gamedig/query.ts'
import { createQuery, type QueryDeps, type QuerySettings } from '../upstreams/query.ts'

/** Creates a query to this machine, with the system's clock, unless the test overrides it. */
export function openQuery(
  settings: Omit<QuerySettings, 'host'> & { host?: string },
  deps: Partial<QueryDeps> = {},
) {
  return createQuery({ host: '127.0.0.1', ...settings }, { clock: systemClock, ...deps })
}

/** Replaces gamedig in tests that must not load it. */
export async function neverLoaded(): Promise<Gamedig> {
  throw new Error('gamedig was loaded')
}
