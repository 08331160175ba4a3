import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import { readArrVersion } from './upstreams/arr/arr.ts'
import { readJellyfinVersion } from './upstreams/jellyfin/jellyfin.ts'
import { readSeerrVersion } from './upstreams/seerr/seerr.ts'
import type { Media } from './upstreams/upstreams.ts'

/** Checks in parallel whether every upstream answers. */
export function checkMedia({ jellyfins, arrs, seerrs }: Media): Promise<UpstreamHealth[]> {
  const check = <One extends Media['jellyfins' | 'arrs' | 'seerrs'][number]>(
    one: One,
    ask: (one: One) => Promise<string | undefined>,
  ) => {
    const { name, address } = one.upstream
    return checkHealth({ name, kind: one.kind, address }, () => ask(one))
  }
  return Promise.all([
    ...jellyfins.map(one => check(one, readJellyfinVersion)),
    ...arrs.map(one => check(one, readArrVersion)),
    ...seerrs.map(one => check(one, readSeerrVersion)),
  ])
}
