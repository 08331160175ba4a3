import { z } from 'zod'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Media } from '../upstreams/upstreams.ts'
import { CHANGE } from './common.ts'
import { requestInput, requestOutput } from './request.ts'
import { requestTitle } from './request-title.ts'

/** `request_movie`: requests a film, through Seerr or directly from Radarr. */
export function requestMovie(media: Media): Tool {
  return defineTool({
    name: 'request_movie',
    title: 'Request a film',
    description:
      'Requests a film, so that it is downloaded: through Seerr where configured, else by adding it to ' +
      'Radarr. Where several are called so, it only lists them to choose from (year or id). Nothing is ' +
      'added twice. Costs disk space: only when somebody wants the film.',
    annotations: { ...CHANGE, openWorldHint: true },
    input: z.strictObject(requestInput('radarr')),
    output: requestOutput,
    limit: 60_000,
    run: (args, signal) => requestTitle(media, 'radarr', args, signal),
  })
}
