import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, type NamedClient, pickClients } from '../upstreams/clients.ts'
import type { Snapshot } from '../upstreams/download-client.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { failedClient, onClients, withFailed } from './on-clients.ts'
import { requireShown } from './until-shown.ts'

const output = z.object({
  resumed: z.array(z.string()).describe('clients'),
  failed: z.array(failedClient).describe('clients that were not resumed'),
})

/** `resume_downloads`: resumes everything. */
export function resumeDownloads({ clients, state, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'resume_downloads',
    title: 'Resume all downloads',
    description:
      'Goes on with all downloads, in every download client or one, and ends timed pauses. Starts every ' +
      'paused unfinished torrent, also one paused alone; in SABnzbd a job paused alone stays so.',
    annotations: REVERSIBLE,
    input: z.strictObject({ client: clientField(clients) }),
    output,
    async run({ client }, signal) {
      const { done, failed } = await onClients(
        pickClients(clients, client),
        'No download client was resumed.',
        async named => {
          named.require('change')
          const resume = () => named.resumeAll({}, signal)
          await resume()
          if (state.pauses.delete(named.name)) state.save()
          await requireShown({ client: named, clock, signal }, 'it goes on', isGoingOn(named), resume)
        },
      )
      const resumed = done.map(({ name }) => name)
      return withFailed(
        { resumed },
        resumed.map(name => `${name} goes on.`),
        failed,
      )
    },
  })
}

/** Tells whether the client runs. SABnzbd has a global pause; a job that was paused alone stays paused. */
function isGoingOn({ ownTimer }: NamedClient): (snapshot: Snapshot) => boolean {
  return ({ paused, downloads }) => (ownTimer ? !paused : downloads.every(({ state }) => state !== 'paused'))
}
