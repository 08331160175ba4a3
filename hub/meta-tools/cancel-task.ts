import { z } from 'zod'
import type { CallContext } from '../core/tool-box.ts'
import { toApproval } from '../store/approvals.ts'
import type { ThreadRow } from '../store/tables.ts'
import { endTask } from '../store/tasks.ts'
import { mainThreadId, readThread } from '../store/threads.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

export function cancelTaskTool(deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'cancel_task',
    title: 'Cancel a task',
    description:
      'Ends one of your tasks by its id (list_tasks shows them): its schedules and its own tasks are cancelled, and what it does now stops at the next step.',
    input: z.strictObject({ id: z.string().min(1).max(200) }),
    async run(tx, { id }, context) {
      const row = await readThread(tx, id)
      if (!row || !isOwn(row, context)) {
        return { text: `There is no task ${id} of yours; list_tasks shows them.`, isError: true }
      }
      if (row.ended_at !== null) return { text: `The task ${id} has ended: ${row.status}.`, isError: true }
      const { now, thread, agent } = context
      const summary = 'Cancelled before it was done.'
      const { woken, closed, told } = await endTask(tx, id, { status: 'cancelled', summary, now, by: thread })
      context.afterCommit(() => {
        for (const approval of closed) deps.signals.emit('approval', toApproval(approval))
        for (const message of told) deps.signals.emit('message', message)
        for (const each of woken) deps.signals.emit('posted', { thread: each })
        deps.signals.emit('schedules', { agent })
      })
      return { text: `Cancelled the task ${id}.`, isError: false, structured: { id, status: 'cancelled' } }
    },
  })
}

/** Tells whether a thread may end a task: the main thread all of its agent, a task those that it made. */
function isOwn(row: ThreadRow, { agent, thread }: CallContext): boolean {
  if (row.kind !== 'task' || row.agent !== agent) return false
  return thread === mainThreadId(agent) || row.parent_id === thread
}
