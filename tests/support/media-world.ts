import { createFakeClock, type FakeClock } from '../../servers/kit/testing/fake-clock.ts'
import { type ServerWorld, startWorld } from '../../servers/kit/testing/server-world.ts'
import { media } from '../../servers/media/server.ts'
import { type Jellyfin, startJellyfin } from '../lab/jellyfin.ts'
import { type Radarr, startRadarr } from '../lab/radarr.ts'
import { type Seerr, startSeerr } from '../lab/seerr.ts'
import { type Sonarr, startSonarr } from '../lab/sonarr.ts'
import type { Contract } from './openapi.ts'

/** The start of the worlds' clocks: 22 November 2026, 04:00 UTC. */
export const NOW = Date.parse('2026-11-22T04:00:00Z')

type Program = 'jellyfin' | 'radarr' | 'sonarr' | 'seerr'

/** The media server with the lab's upstreams. */
export interface MediaWorld extends ServerWorld {
  readonly clock: FakeClock
  readonly jellyfin: Jellyfin
  readonly radarr: Radarr
  readonly sonarr: Sonarr
  readonly seerr: Seerr
}

export interface MediaWorldOptions {
  contracts?: Partial<Record<Program, Contract>>
  /** Upstreams that are not configured. */
  without?: readonly Program[]
  environment?: Record<string, string>
  watchers?: boolean
}

export async function startMediaWorld(options: MediaWorldOptions = {}): Promise<MediaWorld> {
  const { contracts = {}, without = [], environment = {}, watchers = false } = options
  await using opened = new AsyncDisposableStack()
  const jellyfin = opened.use(await startJellyfin({ contract: contracts.jellyfin }))
  const radarr = opened.use(await startRadarr({ contract: contracts.radarr }))
  const sonarr = opened.use(await startSonarr({ contract: contracts.sonarr }))
  const seerr = opened.use(await startSeerr({ contract: contracts.seerr }))
  const labs = { jellyfin, radarr, sonarr, seerr }
  const settings = Object.entries(labs)
    .filter(([name]) => !without.includes(name as Program))
    .flatMap(([name, lab]) => [
      [`${name.toUpperCase()}_URL`, lab.url],
      [`${name.toUpperCase()}_API_KEY`, lab.apiKey],
    ])
  const clock = createFakeClock(NOW)
  const all = { MEDIA_TIMEZONE: 'Europe/Berlin', ...Object.fromEntries(settings), ...environment }
  const world = opened.use(await startWorld(media, { clock, environment: all, watchers }))
  const owned = opened.move()
  return { ...world, ...labs, clock, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
