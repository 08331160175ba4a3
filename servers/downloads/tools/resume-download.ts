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
  held: z.boolean().describe('true: it waits all the same, since the client as a whole is paused'),
})

/** `resume_download`: resumes one download. */
export function resumeDownload({ clients, clock }: ToolDeps): Tool {
  return defineTool({
    name: 'resume_download',
    title: 'Resume one download',
    description:
      'Goes on with one download that is paused, or failed in a torrent client. While SABnzbd as a whole ' +
      'is paused, it still waits.',
    annotations: REVERSIBLE,
    input: z.strictObject(downloadFields(clients)),
    output,
    async run({ download: wanted, client: only }, signal) {
      const found = await findUnfinished(pickClients(clients, only), wanted, signal)
      const { client, download } = found
      client.require('change')
      const { id, name } = download
      const resume = () => client.client.resume(id, signal)
      await resume()
      const change = `${quote(name)} is resumed`
      await requireShown({ client, clock, signal }, change, now => !isPaused(now, id), resume)
      const held = client.client.ownTimer && (await client.client.look(signal)).paused
      const rest = held ? `, but ${client.name} as a whole is paused: resume_downloads makes it go on` : ''
      const data = { client: client.name, id, name, held }
      return { data, text: `${quote(name)} is resumed (${client.name})${rest}.` }
    },
  })
}
