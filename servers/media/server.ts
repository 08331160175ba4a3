import { runServer } from '../kit/run.ts'
import type { ServerDefinition } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'

/** The server for films and series: Jellyfin, Radarr, Sonarr and Seerr. Settings: see config.ts. */
export const media: ServerDefinition = {
  name: 'media',
  version: VERSION,
  title: 'Media',
  instructions:
    'Looks after films and series with Jellyfin (the library and who watches), Radarr and Sonarr (what is collected) and ' +
    'Seerr (what people ask for). search_media says what there is; request_movie and request_show ask for more; ' +
    'get_requests, get_upcoming and get_recently_added say what comes and came; diagnose_media says why something is not ' +
    'there. Events (events://media): transcode_started, media_added.',
  start: async deps => (await import('./start.ts')).start(deps),
}

if (import.meta.main) await runServer(media, { kind: 'stdio' })
