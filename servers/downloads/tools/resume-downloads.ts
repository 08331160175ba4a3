import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, pickClients } from '../clients/clients.ts'
import { failedClient, onClients, toFailed, toFailedLines, toValues } from '../on-clients.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'

const output = z.object({
  resumed: z.array(z.string()).describe('clients'),
  failed: z.array(failedClient).describe('clients that were not resumed'),
})

/** `resume_downloads`: goes on with everything. */
export function resumeDownloads({ clients, pauses }: ToolDeps): Tool {
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
      const outcomes = await onClients(
        pickClients(clients, client),
        'No download client was resumed.',
        async named => {
          named.require('change')
          await named.client.resumeAll({}, signal)
          pauses.clear(named.name)
        },
      )
      const resumed = toValues(outcomes).map(({ name }) => name)
      const failed = toFailed(outcomes)
      const lines = [...resumed.map(name => `${name} goes on.`), ...toFailedLines(outcomes)]
      return { data: { resumed, failed }, text: lines.join('\n'), untrusted: failed.length > 0 }
    },
  })
}
