import { z } from 'zod'
import { toStopTarget } from '../../../schemas/chat.ts'
import { conversationId, name } from '../../../schemas/names.ts'
import { HubError } from '../../core/errors.ts'
import { checkUse, may } from '../../core/principal.ts'
import { plural } from '../../core/text.ts'
import { endHold } from '../../store/hub-state.ts'
import { suspendedThreads } from '../../store/suspended.ts'
import { meantAgent } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

export const stop = defineHubTool({
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
  right: 'stop',
  async run(args, { principal, deps }) {
    const target = toStopTarget(args)
    if (!target) {
      throw new HubError('invalid_arguments', 'hub_stop: give either conversation or thread')
    }
    if ('conversation' in target) checkUse(deps.mayUse, principal, target.conversation)
    else if (!may(principal, 'records'))
      throw new HubError('forbidden', `hub_stop: ${principal.name} stops conversations, not threads`)
    return { stopped: await deps.stop(target, principal.name) }
  },
  toText: ({ stopped }) =>
    stopped.length === 0
      ? 'Nothing is running; there is nothing to stop.'
      : `Stopping ${stopped.map(({ thread }) => thread).join(', ')}.`,
})

export const reset = defineHubTool({
  name: 'hub_reset',
  title: 'Start an agent fresh',
  description:
    "Starts an agent's history fresh. Stored context, schedules and tasks stay; what was before is still found by search. The message enters the fresh history as a note.",
  input: z.strictObject({
    agent: name.optional(),
    message: z.string().trim().min(1).max(4_000).optional().describe('why, for the agent'),
  }),
  output: z.object({ agent: z.string(), conversation: z.string() }),
  effect: 'removes',
  right: 'stop',
  async run({ agent: named, message }, { principal, deps }) {
    const agent = await meantAgent({ deps, principal }, named)
    const { conversation } = await deps.reset({ agent: agent.name, by: principal.name, message })
    return { agent: agent.name, conversation }
  },
  toText: ({ agent }) => `${agent} starts fresh.`,
})

export const releaseAgents = defineHubTool({
  name: 'hub_release_agents',
  title: 'Let held agents go',
  description:
    'Lets the agents run again that are held after a crash loop (hub_status says held). Read the log before.',
  input: z.strictObject({}),
  output: z.object({ released: z.boolean().describe('false: no agent was held') }),
  effect: 'adds',
  right: 'admin',
  async run(_args, { principal, deps }) {
    const released = await deps.store.write(endHold)
    if (released) deps.signals.emit('released', { by: principal.name })
    return { released }
  },
  toText: ({ released }) => (released ? 'The agents run again.' : 'No agent was held.'),
})

export const retryModel = defineHubTool({
  name: 'hub_retry_model',
  title: 'Ask a model again now',
  description: 'Asks models that cannot be reached again at once, with the work that waits for them.',
  input: z.strictObject({}),
  output: z.object({ waiting: z.number().describe('cycles that wait for a model') }),
  effect: 'adds',
  right: 'records',
  async run(_args, { principal, deps }) {
    const waiting = (await suspendedThreads(deps.store.db)).length
    deps.signals.emit('modelRetryRequested', { by: principal.name })
    return { waiting }
  },
  toText: ({ waiting }) =>
    waiting === 0
      ? 'Nothing waits for a model; the next question asks it.'
      : `The model is asked again, for ${plural(waiting, 'cycle')}.`,
})
