import type { Clock } from '../../kit/clock.ts'
import type { Setting, SettingsTable } from '../../kit/env.ts'
import type { Instance, InstanceSpec } from '../../kit/instances.ts'
import { createUpstream, type Upstream } from '../../kit/upstream/upstream.ts'
import {
  jellyfinSpec,
  type MediaSettings,
  type RadarrSettings,
  radarrSpec,
  type SeerrSettings,
  type SonarrSettings,
  seerrSpec,
  sonarrSpec,
} from '../config.ts'
import { LIBRARY_BYTES } from './arr/managed.ts'
import { type Jellyfin, toJellyfinHeaders } from './jellyfin/jellyfin.ts'

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
