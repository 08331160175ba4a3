import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { clientField, type NamedClient, pickClients } from '../upstreams/clients.ts'
import type { Snapshot } from '../upstreams/download-client.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { failedClient, onClients, withFailed } from './on-clients.ts'
import { requireShown } from './until-shown.ts'

/** Bytes per MiB, the unit of speeds and sizes in the status. */
const MIB = 2 ** 20
/** Bytes by which limits may differ: clients count whole kilobytes, of 1000 or of 1024 bytes. */
const ROUNDING = 1024

const input = (clients: readonly NamedClient[]) =>
  z.strictObject({
    limitMiBps: z
      .number()
      .refine(limit => limit === 0 || (limit >= 0.001 && limit <= 100_000), 'must be 0, or 0.001 to 100000')
      .describe('MiB per second (10 Mbit/s are 1.19); 0: no limit'),
    client: clientField(clients),
  })

const output = z.object({
  limited: z.array(z.string()).describe('clients'),
  limitBytesPerSecond: z.number().optional().describe('absent: no limit'),
  failed: z.array(failedClient).describe('clients whose limit was not changed'),
})

/** `set_download_speed`: sets the limit of each client. */
export function setDownloadSpeed({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'set_download_speed',
    title: 'Limit the download speed',
    description:
      'Limits how fast each download client, or one, loads (each by itself; uploads not), or lifts the ' +
      'limit. Ends the "turtle mode" of Transmission.',
    annotations: REVERSIBLE,
    input: input(clients),
    output,
    async run({ limitMiBps, client }, signal) {
      const limit = Math.round(limitMiBps * MIB)
      const { done, failed } = await onClients(
        pickClients(clients, client),
        'No limit was changed.',
        async named => {
          named.require('change')
          await named.setLimit(limit, signal)
          const isSet = ({ limit: shown = 0 }: Snapshot) => Math.abs(shown - limit) <= ROUNDING
          await requireShown({ client: named, clock, signal }, 'the limit is set', isSet)
        },
      )
      const limited = done.map(({ name }) => name)
      const words = limit === 0 ? 'loads without a limit' : `loads at most ${limitMiBps} MiB/s`
      const lines = limited.map(name => `${name} ${words}.`)
      return withFailed({ limited, limitBytesPerSecond: limit || undefined }, lines, failed)
    },
  })
}
