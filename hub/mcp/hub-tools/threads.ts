import { z } from 'zod'
import { type ThreadView, threadStatuses, threadView } from '../../../schemas/hub-lists.ts'
import { name } from '../../../schemas/names.ts'
import { toIso } from '../../core/clock.ts'
import { plural, toLine, truncate } from '../../core/text.ts'
import { type ListedThread, listThreadsOf } from '../../store/read-threads.ts'
import { defineHubTool, toView } from './hub-tool.ts'

export const listAllThreads = defineHubTool({
  name: 'hub_list_threads',
  title: 'List threads',
  description:
    "The agents' threads: each one's main thread and its tasks, the newest first. Those that are archived are hidden.",
  input: z.strictObject({
    agent: name.optional(),
    status: z.enum(threadStatuses).optional(),
    archived: z.boolean().default(false).describe('show those too'),
    limit: z.int().min(1).max(1000).default(100),
  }),
  output: z.object({ threads: z.array(threadView) }),
  effect: 'reads',
  right: 'records',
  run: async (filter, { deps }) => ({
    threads: (await listThreadsOf(deps.store.db, filter)).map(toThreadView),
  }),
  toText: ({ threads }) => threads.map(describeThread).join('\n') || 'No threads.',
})

export function toThreadView(row: ListedThread): ThreadView {
  return threadView.parse(toView(row))
}

export function describeThread(thread: ThreadView): string {
  const { id, kind, status, cycles, pending, updatedAt, instructions = '', summary } = thread
  const what = kind === 'main' ? 'main thread' : truncate(toLine(instructions), 80)
  const end = summary === undefined ? '' : `: ${truncate(toLine(summary), 120)}`
  const waiting = pending === 0 ? '' : `, ${plural(pending, 'inbox item')} waiting`
  return `${id} ${status}, ${plural(cycles, 'cycle')}${waiting}, last active ${toIso(updatedAt)}: ${what}${end}`
}
