import { z } from 'zod'
import { foreignText } from '../../kit/foreign.ts'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { pickClients } from '../upstreams/clients.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, findUnfinished } from './find-download.ts'
import { isPaused, requireShown } from './until-shown.ts'

const output = z.object({
  client: z.string(),
  id: z.string(),
  name: foreignText(),
  changed: z.boolean().describe('false: it was so before'),
})

/** `pause_download`: pauses one download. */
export function pauseDownload({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'pause_download',
    title: 'Pause one download',
    description: 'Holds one download until resume_download; the others go on. What was loaded is kept.',
    annotations: REVERSIBLE,
    input: z.strictObject(downloadFields(clients)),
    output,
    async run({ download: wanted, client: only }, signal) {
      const found = await findUnfinished(pickClients(clients, only), wanted, signal)
      const { client, download } = found
      client.require('change')
      const { id, name } = download
      const data = { client: client.name, id, name, changed: download.state !== 'paused' }
      if (!data.changed) return { data, text: `${quote(name)} was paused before (${client.name}).` }
      await client.client.pause(id, signal)
      await requireShown({ client, clock, signal }, `${quote(name)} is paused`, now => isPaused(now, id))
      return { data, text: `${quote(name)} is paused (${client.name}).` }
    },
  })
}
