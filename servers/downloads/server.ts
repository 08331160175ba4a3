import { runServer } from '../kit/run.ts'
import type { ServerDefinition } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'

/** The server for SABnzbd, qBittorrent and Transmission, with one set of tools. Settings: see config.ts. */
export const downloads: ServerDefinition = {
  name: 'downloads',
  version: VERSION,
  title: 'Downloads',
  instructions:
    'Looks after the download clients (SABnzbd, qBittorrent, Transmission). get_download_status says what is being loaded, ' +
    'get_download_history what completed or failed and why. pause_downloads and resume_downloads mean all, pause_download and ' +
    'resume_download one. Downloads are named by their name or enough of it. Events (events://downloads): ' +
    'download_complete, download_failed, disk_full_warning.',
  start: async deps => (await import('./start.ts')).start(deps),
}

if (import.meta.main) await runServer(downloads, { kind: 'stdio' })
