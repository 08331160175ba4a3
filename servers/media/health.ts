import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import type { Upstream } from '../kit/upstream/upstream.ts'
import { readVersion } from './upstreams/arr/arr.ts'
import { readJellyfinVersion } from './upstreams/jellyfin/jellyfin.ts'
import { readSeerrVersion } from './upstreams/seerr/seerr.ts'
import type { Media } from './upstreams/upstreams.ts'

/** Checks in parallel whether every upstream answers. */
export function checkMedia({ jellyfins, radarrs, sonarrs, seerrs }: Media): Promise<UpstreamHealth[]> {
  const check = (kind: string, { name, address }: Upstream, ask: () => Promise<string | undefined>) =>
    checkHealth({ name, kind, address }, ask)
  return Promise.all([
    ...jellyfins.map(one => check('jellyfin', one.upstream, () => readJellyfinVersion(one))),
    ...[...radarrs, ...sonarrs].map(one => check(one.kind, one.upstream, () => readVersion(one.upstream))),
    ...seerrs.map(one => check('seerr', one.upstream, () => readSeerrVersion(one))),
  ])
}
