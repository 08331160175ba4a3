import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, type NamedClient, pickClients } from '../clients/clients.ts'
import { failedClient, onClients, toFailed, toFailedLines, toValues } from '../on-clients.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'

const MEGABYTE = 1_000_000

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    limitMBps: z
      .number()
      .refine(limit => limit === 0 || (limit >= 0.001 && limit <= 100_000), 'must be 0, or 0.001 to 100000')
      .describe('megabytes per second (10 Mbit/s are 1.25); 0: no limit'),
    client: clientField(clients),
  })

const output = z.object({
  limited: z.array(z.string()).describe('clients'),
  limitBytesPerSecond: z.number().optional().describe('absent: no limit'),
  failed: z.array(failedClient).describe('clients whose limit was not changed'),
})

/** `set_download_speed`: the limit of each client. */
export function setDownloadSpeed({ clients }: ToolDeps): Tool {
  return defineTool({
    name: 'set_download_speed',
    title: 'Limit the download speed',
    description:
      'Limits how fast each download client, or one, loads (each by itself; uploads not), or lifts the ' +
      'limit. Ends the "turtle mode" of Transmission.',
    annotations: REVERSIBLE,
    input: input(clients),
    output,
    async run({ limitMBps, client }, signal) {
      const limit = Math.round(limitMBps * MEGABYTE)
      const outcomes = await onClients(pickClients(clients, client), 'No limit was changed.', async named => {
        named.require('change')
        await named.client.setLimit(limit, signal)
      })
      const limited = toValues(outcomes).map(({ name }) => name)
      const words = limit === 0 ? 'loads without a limit' : `loads at most ${limitMBps} MB/s`
      const failed = toFailed(outcomes)
      const lines = [...limited.map(name => `${name} ${words}.`), ...toFailedLines(outcomes)]
      const data = {
        limited,
        ...(limit === 0 ? {} : { limitBytesPerSecond: limit }),
        failed,
      }
      return { data, text: lines.join('\n'), untrusted: failed.length > 0 }
    },
  })
}
