import { checkHealth } from '../kit/health.ts'
import { runServer } from '../kit/run.ts'
import type { ServerDefinition, ServerDeps, StartedServer } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'
import { openClients } from './clients/clients.ts'
import { readDownloadsSettings } from './config.ts'
import { openTimedPauses } from './timed-pauses.ts'
import { addDownload } from './tools/add-download.ts'
import { getDownloadHistory } from './tools/get-download-history.ts'
import { getDownloadStatus } from './tools/get-download-status.ts'
import { pauseDownload } from './tools/pause-download.ts'
import { pauseDownloads } from './tools/pause-downloads.ts'
import { removeDownload } from './tools/remove-download.ts'
import { resumeDownload } from './tools/resume-download.ts'
import { resumeDownloads } from './tools/resume-downloads.ts'
import { setDownloadPriority } from './tools/set-download-priority.ts'
import { setDownloadSpeed } from './tools/set-download-speed.ts'
import { createWatchers } from './watchers.ts'

/** SABnzbd, qBittorrent and Transmission behind one set of tools. Settings: see config.ts. */
export const downloads: ServerDefinition = {
  name: 'downloads',
  version: VERSION,
  title: 'Downloads',
  instructions:
    'Looks after the download clients (SABnzbd, qBittorrent, Transmission). get_download_status says what is being loaded, ' +
    'get_download_history what completed or failed and why. pause_downloads and resume_downloads mean all, pause_download and ' +
    'resume_download one. Downloads are named by their name or enough of it. Events (events://downloads): ' +
    'download_complete, download_failed, disk_full_warning.',
  start,
}

async function start({ clock, environment, emit, log }: ServerDeps): Promise<StartedServer> {
  const settings = readDownloadsSettings(environment)
  const clients = openClients(settings, clock)
  const pauses = openTimedPauses(settings.stateFile, clock, log)
  const deps = { clients, pauses, clock }
  return {
    tools: [
      getDownloadStatus(deps),
      getDownloadHistory(deps),
      pauseDownloads(deps),
      resumeDownloads(deps),
      pauseDownload(deps),
      resumeDownload(deps),
      setDownloadSpeed(deps),
      addDownload(deps),
      removeDownload(deps),
      setDownloadPriority(deps),
    ],
    watchers: [...createWatchers({ clients, settings, emit, clock }), ...pauses.watchers(clients)],
    health: () =>
      Promise.all(
        clients.map(({ name, client }) =>
          checkHealth({ name, kind: client.kind, address: client.address }, () => client.version()),
        ),
      ),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

if (import.meta.main) await runServer(downloads, { kind: 'stdio' })
