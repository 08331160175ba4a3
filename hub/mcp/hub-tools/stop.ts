import { z } from 'zod'
import { toStopTarget } from '../../../schemas/chat.ts'
import { conversationId } from '../../../schemas/names.ts'
import { HubError } from '../../core/errors.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

export function stop(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_stop',
    title: 'Stop an agent',
    description:
      'Stops what an agent does right now, in a conversation or in a thread, at the next boundary: a call that runs is waited for, the rest is skipped. Its schedules stay.',
    input: z.strictObject({
      conversation: conversationId.optional().describe('stops the agent of this conversation'),
      thread: z.string().min(1).max(200).optional().describe('or: stops this thread, such as a task'),
    }),
    output: z.object({
      stopped: z
        .array(z.object({ thread: z.string(), cycle: z.string().optional() }))
        .describe('empty: nothing was running'),
    }),
    effect: 'removes',
    async run(args, context) {
      const target = toStopTarget(args)
      if (!target) {
        throw new HubError('invalid_arguments', 'hub_stop: give either conversation or thread')
      }
      return { stopped: await deps.stop(target, context.token) }
    },
    toText: ({ stopped }) =>
      stopped.length === 0
        ? 'Nothing is running; there is nothing to stop.'
        : `Stopping ${stopped.map(({ thread }) => thread).join(', ')}.`,
  })
}
