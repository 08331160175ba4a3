import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE } from './common.ts'
import { requestInput, requestOutput } from './request.ts'
import { requestTitle } from './request-title.ts'

const seasons = z
  .array(z.int().min(0).max(200))
  .min(1)
  .max(100)
  .optional()
  .describe('0: specials; default: all but those')

/** `request_show`: requests a series or some of its seasons, through Seerr or directly from Sonarr. */
export function requestShow(media: Media): Tool {
  return defineTool({
    name: 'request_show',
    title: 'Request a series',
    description:
      'Requests a series, or some seasons, so that it is downloaded: through Seerr where configured, else ' +
      'by adding it to Sonarr. Where several are called so, it only lists them to choose from (year or ' +
      'id). Nothing is added twice. Costs much disk space: ask for seasons where that does.',
    annotations: { ...CHANGE, openWorldHint: true },
    input: z.strictObject({ ...requestInput('sonarr'), seasons }),
    output: requestOutput,
    limit: 60_000,
    run: (args, signal) => requestTitle(media, 'sonarr', args, signal),
  })
}
