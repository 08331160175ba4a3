import { runServer } from '../kit/run.ts'
import type { ServerDefinition, ServerDeps, StartedServer } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'
import { readMediaSettings } from './config.ts'
import { diagnoseMedia } from './tools/diagnose-media.ts'
import { getJellyfinSessions } from './tools/get-jellyfin-sessions.ts'
import { getRecentlyAdded } from './tools/get-recently-added.ts'
import { getRequests } from './tools/get-requests.ts'
import { getUpcoming } from './tools/get-upcoming.ts'
import { refreshLibrary } from './tools/refresh-library.ts'
import { requestMovie } from './tools/request-movie.ts'
import { requestShow } from './tools/request-show.ts'
import { searchMedia } from './tools/search-media.ts'
import { searchMissing } from './tools/search-missing.ts'
import { stopJellyfinSession } from './tools/stop-jellyfin-session.ts'
import { checkMedia, createMedia } from './upstreams.ts'
import { createAddedWatcher } from './watchers/added.ts'
import { createSessionWatchers } from './watchers/sessions.ts'

/** Films and series: Jellyfin, Radarr, Sonarr and Seerr. Settings: see config.ts. */
export const media: ServerDefinition = {
  name: 'media',
  version: VERSION,
  title: 'Media',
  instructions:
    'Looks after films and series with Jellyfin (the library and who watches), Radarr and Sonarr (what is collected) and ' +
    'Seerr (what people ask for). search_media says what there is; request_movie and request_show ask for more; ' +
    'get_requests, get_upcoming and get_recently_added say what comes and came; diagnose_media says why something is not ' +
    'there. Events (events://media): transcode_started, media_added.',
  start,
}

async function start({ clock, environment, emit }: ServerDeps): Promise<StartedServer> {
  const settings = readMediaSettings(environment)
  const upstreams = createMedia(settings, clock)
  const { MEDIA_SESSIONS_INTERVAL, MEDIA_LIBRARY_INTERVAL } = settings.own
  return {
    tools: [
      searchMedia,
      getJellyfinSessions,
      getRecentlyAdded,
      requestMovie,
      requestShow,
      getRequests,
      getUpcoming,
      searchMissing,
      stopJellyfinSession,
      refreshLibrary,
      diagnoseMedia,
    ].map(create => create(upstreams)),
    watchers: upstreams.jellyfins.flatMap(jellyfin => [
      ...createSessionWatchers(jellyfin, { every: MEDIA_SESSIONS_INTERVAL, clock, emit }),
      createAddedWatcher(jellyfin, { every: MEDIA_LIBRARY_INTERVAL, emit }),
    ]),
    health: () => checkMedia(upstreams),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

if (import.meta.main) await runServer(media, { kind: 'stdio' })
