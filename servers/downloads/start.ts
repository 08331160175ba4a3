import { checkAll } from '../kit/health.ts'
import type { ServerDeps, StartedServer } from '../kit/server.ts'
import { readDownloadsSettings } from './config.ts'
import { openState } from './state.ts'
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
import { openClients } from './upstreams/clients.ts'
import { watchTimedPauses } from './watchers/timed-pauses.ts'
import { createWatchers } from './watchers/watchers.ts'

/** Starts the server with its settings. Throws SettingsError if they are wrong. */
export async function start({ clock, environment, emit, log }: ServerDeps): Promise<StartedServer> {
  const settings = readDownloadsSettings(environment)
  const state = openState(settings.stateFile, log)
  const clients = openClients(settings, { clock, state })
  const usable = clients.filter(({ problem }) => problem === undefined)
  const deps = { clients, state, clock }
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
    watchers: [
      ...createWatchers({ clients: usable, settings, emit, clock }),
      ...watchTimedPauses(usable, state, clock, log),
    ],
    health: () => checkAll(clients.map(of => ({ kind: of.kind, of }))),
    [Symbol.asyncDispose]: async () => undefined,
  }
}
