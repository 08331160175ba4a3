import type { ServerDeps, StartedServer } from '../kit/server.ts'
import { readMediaSettings } from './config.ts'
import { checkMedia } from './health.ts'
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
import { createMedia } from './upstreams/upstreams.ts'
import { createAddedWatcher } from './watchers/added.ts'
import { createTranscodeWatcher } from './watchers/transcodes.ts'

/** Starts the server with its settings. Throws SettingsError if they are wrong. */
export async function start({ clock, environment, emit }: ServerDeps): Promise<StartedServer> {
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
    watchers: upstreams.jellyfins
      .filter(({ problem }) => problem === undefined)
      .flatMap(jellyfin => [
        createTranscodeWatcher(jellyfin, { every: MEDIA_SESSIONS_INTERVAL, emit }),
        createAddedWatcher(jellyfin, { every: MEDIA_LIBRARY_INTERVAL, emit }),
      ]),
    health: () => checkMedia(upstreams),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
