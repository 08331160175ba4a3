import { z } from 'zod'
import { deadLetter, deadLetters, type ListedDeadLetter } from '../../../schemas/hub-lists.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { plural, toLine, truncate } from '../../core/text.ts'
import {
  type DeadLetter,
  discardDeadLetter,
  listDeadLetters,
  retryDeadLetter,
} from '../../store/dead-letters.ts'
import { defineHubTool } from './hub-tool.ts'

export const listAllDeadLetters = defineHubTool({
  name: 'hub_list_dead_letters',
  title: 'List dead letters',
  description:
    'Work of agents that failed for good, with what it was about, why it failed and which tool calls had run; the newest first.',
  input: z.strictObject({ status: z.enum(['open', 'retried', 'discarded']).optional() }),
  output: deadLetters,
  effect: 'reads',
  right: 'records',
  run: async ({ status }, { deps }) => ({
    deadLetters: (await listDeadLetters(deps.store.db, status)).map(toView),
  }),
  toText: result => result.deadLetters.map(summarize).join('\n') || 'No dead letters.',
})

export const retryOne = defineHubTool({
  name: 'hub_retry_dead_letter',
  title: 'Retry a dead letter',
  description:
    'Gives the work of a dead letter to its agent again, as a new batch. Once for each dead letter.',
  input: z.strictObject({ id: z.string().min(1) }),
  output: deadLetter,
  effect: 'adds',
  right: 'records',
  async run({ id }, { principal, deps }) {
    const agents = await deps.agents()
    const letter = await deps.store.write(async tx => {
      const retried = await retryDeadLetter(tx, id, principal.name, deps.clock.now())
      const agent = agents.find(({ name }) => name === retried.agent)
      if (agent && agent.status !== 'retired') return retried
      throw new HubError(
        'retired',
        `The agent ${retried.agent} is retired: put agents/${retried.agent}.md back first`,
      )
    })
    deps.signals.emit('modelRetryRequested', { by: principal.name })
    deps.signals.emit('posted', { thread: letter.thread })
    return toView(letter)
  },
  toText: ({ id, agent }) => `${id} is tried again by ${agent}.`,
})

export const discardOne = defineHubTool({
  name: 'hub_discard_dead_letter',
  title: 'Discard a dead letter',
  description: 'Gives up the work of a dead letter; it stays listed as discarded and is never tried again.',
  input: z.strictObject({ id: z.string().min(1) }),
  output: deadLetter,
  effect: 'removes',
  right: 'records',
  async run({ id }, { principal, deps }) {
    const now = deps.clock.now()
    const letter = await deps.store.write(tx => discardDeadLetter(tx, id, principal.name, now))
    const agent = (await deps.agents()).find(each => each.name === letter.agent)
    if (agent) deps.signals.emit('agent', { name: agent.name, status: agent.status })
    return toView(letter)
  },
  toText: ({ id }) => `${id} is discarded.`,
})

function toView({ error, ...letter }: DeadLetter): ListedDeadLetter {
  return error ? { ...letter, error } : letter
}

function summarize(letter: ListedDeadLetter): string {
  const about = truncate(toLine(letter.items.map(item => item.text).join(' / ')), 120)
  return toLine(
    `${letter.id} ${letter.agent} (${letter.status}, ${toIso(letter.at)}): ${letter.reason} About: ${about}`,
  )
}

/** Describes everything about one dead letter, in lines for a person. */
export function describeDeadLetter(letter: ListedDeadLetter): string {
  const decided = letter.decidedAt === null ? '' : ` ${toIso(letter.decidedAt)} by ${letter.decidedBy}`
  return [
    `${letter.id}: ${letter.status}${decided}`,
    `Agent: ${letter.agent} (${letter.thread}, ${letter.cycle}, ${plural(letter.steps, 'step')})`,
    `Conversation: ${letter.conversation ?? 'none'}`,
    toLine(`Failed: ${toIso(letter.at)}: ${letter.reason}`),
    `Error: ${letter.error?.code ?? 'none'}${letter.error?.status ? ` (${letter.error.status})` : ''}`,
    'Items:',
    ...letter.items.map(item => `  ${toLine(`${toIso(item.at)} ${item.origin}: ${item.text}`)}`),
    'Calls:',
    ...(letter.calls.length > 0
      ? letter.calls.map(call => `  ${toLine(`${call.tool} ${call.arguments}: ${call.status}`)}`)
      : ['  none']),
  ].join('\n')
}
