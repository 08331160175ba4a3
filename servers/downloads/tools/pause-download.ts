import { z } from 'zod'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { REVERSIBLE, type ToolDeps } from './deps.ts'
import { downloadFields, downloadOutput, findUnfinished } from './find-download.ts'
import { isPaused, requireShown } from './until-shown.ts'

/** `pause_download`: pauses one download. */
export function pauseDownload(deps: ToolDeps): Tool {
  return defineTool({
    name: 'pause_download',
    title: 'Pause one download',
    description: 'Holds one download until resume_download; the others go on. What was loaded is kept.',
    annotations: REVERSIBLE,
    input: z.strictObject(downloadFields(deps.clients)),
    output: z.object({ ...downloadOutput, changed: z.boolean().describe('false: it was so before') }),
    async run(wanted, signal) {
      const { client, download, about, waiting } = await findUnfinished(deps, wanted, signal)
      const { id, name } = about
      const data = { ...about, changed: download.state !== 'paused' }
      if (!data.changed) return { data, text: `${quote(name)} was paused before (${client.name}).` }
      await client.pause(id, signal)
      await requireShown(waiting, `${quote(name)} is paused`, now => isPaused(now, id))
      return { data, text: `${quote(name)} is paused (${client.name}).` }
    },
  })
}
