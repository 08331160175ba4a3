import { z } from 'zod'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, downloadOutput, findUnfinished } from './find-download.ts'
import { isPaused, requireShown } from './until-shown.ts'

const held = z.boolean().describe('true: it waits all the same, since the client as a whole is paused')

/** `resume_download`: resumes one download. */
export function resumeDownload(deps: ToolDeps): Tool {
  return defineTool({
    name: 'resume_download',
    title: 'Resume one download',
    description:
      'Goes on with one download that is paused, or failed in a torrent client. While SABnzbd as a whole ' +
      'is paused, it still waits.',
    annotations: REVERSIBLE,
    input: z.strictObject(downloadFields(deps.clients)),
    output: z.object({ ...downloadOutput, held }),
    async run(wanted, signal) {
      const { client, about, waiting } = await findUnfinished(deps, wanted, signal)
      const { id, name } = about
      const resume = () => client.resume(id, signal)
      await resume()
      await requireShown(waiting, `${quote(name)} is resumed`, now => !isPaused(now, id), resume)
      const held = client.ownTimer && (await client.readSnapshot(signal)).paused
      const rest = held ? `, but ${client.name} as a whole is paused: resume_downloads makes it go on` : ''
      return { data: { ...about, held }, text: `${quote(name)} is resumed (${client.name})${rest}.` }
    },
  })
}
