import type { Clock } from '../../kit/clock.ts'
import type { Setting, SettingsTable } from '../../kit/env.ts'
import type { Instance, InstanceSpec } from '../../kit/instances.ts'
import { createUpstream, type Upstream, type UpstreamOptions } from '../../kit/upstream/upstream.ts'
import { jellyfinSpec, type MediaSettings, radarrSpec, seerrSpec, sonarrSpec } from '../config.ts'
import { type Arr, LIBRARY_BYTES } from './arr/arr.ts'
import { type Jellyfin, toJellyfinHeaders } from './jellyfin/jellyfin.ts'
import type { Seerr } from './seerr/seerr.ts'

/** Every configured upstream (the first of each kind is the default), and the tools' other dependencies. */
export interface Media {
  readonly jellyfins: readonly Jellyfin[]
  /** The Radarrs, then the Sonarrs. */
  readonly arrs: readonly Arr[]
  readonly seerrs: readonly Seerr[]
  readonly clock: Clock
  /** IANA name. */
  readonly timezone: () => string
}

/** Creates the upstreams. Connections are opened at the first request. */
export function createMedia(settings: MediaSettings, clock: Clock): Media {
  const open = <Kind extends string, Given extends Instance<Connection>>(
    kind: Kind,
    spec: InstanceSpec<Connection>,
    given: Given,
  ) => {
    const { API_KEY: key } = given.settings
    const own =
      kind === 'jellyfin'
        ? { headers: toJellyfinHeaders(key) }
        : { headers: { 'x-api-key': key }, maxBytes: LIBRARY_BYTES }
    return { ...given, kind, upstream: openUpstream(spec, given, { ...own, clock }) }
  }
  return {
    jellyfins: settings.jellyfins.map(given => open('jellyfin', jellyfinSpec, given)),
    arrs: [
      ...settings.radarrs.map(given => open('radarr', radarrSpec, given)),
      ...settings.sonarrs.map(given => open('sonarr', sonarrSpec, given)),
    ],
    seerrs: settings.seerrs.map(given => open('seerr', seerrSpec, given)),
    clock,
    timezone: settings.timezone,
  }
}

type Connection = SettingsTable & { URL: Setting<string>; API_KEY: Setting<string> }

function openUpstream(
  spec: InstanceSpec<Connection>,
  instance: Instance<Connection>,
  own: Pick<UpstreamOptions, 'headers' | 'maxBytes' | 'clock'>,
): Upstream {
  const { name, title, settings, variables } = instance
  return createUpstream({
    name,
    title,
    url: settings.URL,
    problem: instance.problem,
    secrets: [settings.API_KEY],
    settings: { url: variables.URL, key: variables.API_KEY, where: spec.settings.API_KEY.where },
    ...own,
  })
}
