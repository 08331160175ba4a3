import type { UpstreamHealth } from '../../schemas/health.ts'
import type { Clock } from '../kit/clock.ts'
import type { Setting, SettingsTable } from '../kit/env.ts'
import { checkHealth } from '../kit/health.ts'
import type { Instance, InstanceSpec } from '../kit/instances.ts'
import { createUpstream, type Upstream } from '../kit/upstream/upstream.ts'
import { readVersion } from './arr/arr.ts'
import { LIBRARY_BYTES } from './arr/managed.ts'
import {
  jellyfinSpec,
  type MediaSettings,
  type RadarrSettings,
  radarrSpec,
  type SeerrSettings,
  type SonarrSettings,
  seerrSpec,
  sonarrSpec,
} from './config.ts'
import { type Jellyfin, readJellyfinVersion, toJellyfinHeaders } from './jellyfin/jellyfin.ts'
import { readSeerrVersion } from './seerr/seerr.ts'

export type Radarr = RadarrSettings & { readonly kind: 'radarr'; readonly upstream: Upstream }
export type Sonarr = SonarrSettings & { readonly kind: 'sonarr'; readonly upstream: Upstream }
export type Seerr = SeerrSettings & { readonly upstream: Upstream }

/** Every configured upstream (the first of each kind is the default), and the tools' other dependencies. */
export interface Media {
  readonly jellyfins: readonly Jellyfin[]
  readonly radarrs: readonly Radarr[]
  readonly sonarrs: readonly Sonarr[]
  readonly seerrs: readonly Seerr[]
  readonly clock: Clock
  /** IANA name. */
  readonly timezone: () => string
}

type Connection = SettingsTable & { URL: Setting<string>; API_KEY: Setting<string> }

/** Creates the upstreams. Connections are opened at the first request. */
export function createMedia(settings: MediaSettings, clock: Clock): Media {
  const open = <Given extends Instance<Connection>>(spec: InstanceSpec<Connection>, given: Given) => ({
    ...given,
    upstream: openUpstream(spec, given, { 'x-api-key': given.settings.API_KEY }, clock, LIBRARY_BYTES),
  })
  return {
    jellyfins: settings.jellyfins.map(given => {
      const headers = toJellyfinHeaders(given.settings.API_KEY)
      return { ...given, headers, upstream: openUpstream(jellyfinSpec, given, headers, clock) }
    }),
    radarrs: settings.radarrs.map(given => ({ kind: 'radarr', ...open(radarrSpec, given) })),
    sonarrs: settings.sonarrs.map(given => ({ kind: 'sonarr', ...open(sonarrSpec, given) })),
    seerrs: settings.seerrs.map(given => open(seerrSpec, given)),
    clock,
    timezone: settings.timezone,
  }
}

function openUpstream(
  spec: InstanceSpec<Connection>,
  instance: Instance<Connection>,
  headers: Record<string, string>,
  clock: Clock,
  maxBytes?: number,
): Upstream {
  const { name, settings, variables } = instance
  const unnamed = name === spec.prefix.toLowerCase()
  return createUpstream({
    name,
    title: unnamed ? spec.title : `${spec.title} (${name})`,
    url: settings.URL,
    problem: instance.problem,
    headers,
    maxBytes,
    secrets: [settings.API_KEY],
    settings: { url: variables.URL, key: variables.API_KEY, where: spec.settings.API_KEY.where },
    clock,
  })
}

/** Checks in parallel whether every upstream answers. */
export function checkMedia(media: Media): Promise<UpstreamHealth[]> {
  const { jellyfins, radarrs, sonarrs, seerrs } = media
  const check = (kind: string, one: { upstream: Upstream }, ask: () => Promise<string | undefined>) =>
    checkHealth({ name: one.upstream.name, kind, address: one.upstream.address }, ask)
  return Promise.all([
    ...jellyfins.map(one => check('jellyfin', one, () => readJellyfinVersion(one))),
    ...radarrs.map(one => check('radarr', one, () => readVersion(one.upstream))),
    ...sonarrs.map(one => check('sonarr', one, () => readVersion(one.upstream))),
    ...seerrs.map(one => check('seerr', one, () => readSeerrVersion(one))),
  ])
}
