import { z } from 'zod'
import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkAll } from '../kit/health.ts'
import type { Media } from './upstreams/upstreams.ts'

/** Paths that tell the version, and need the key: Seerr's own status does not. */
const PATHS = {
  jellyfin: '/System/Info',
  radarr: '/api/v3/system/status',
  sonarr: '/api/v3/system/status',
  seerr: '/api/v1/settings/about',
} as const
const about = z.object({ Version: z.string().nullish(), version: z.string().nullish() })

/** Checks in parallel whether every upstream answers. */
export function checkMedia({ jellyfins, arrs, seerrs }: Media): Promise<UpstreamHealth[]> {
  const upstreams = [...jellyfins, ...arrs, ...seerrs].map(({ kind, upstream }) => {
    const version = async () => {
      const found = await upstream.get(PATHS[kind], { schema: about })
      return found.Version ?? found.version ?? undefined
    }
    return { kind, of: { name: upstream.name, address: upstream.address, version } }
  })
  return checkAll(upstreams)
}
