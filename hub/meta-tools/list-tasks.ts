import { z } from 'zod'
import { toLine, truncate } from '../core/text.ts'
import type { ThreadRow } from '../store/tables.ts'
import { listTasks } from '../store/tasks.ts'
import { mainThreadId, taskResultOf } from '../store/threads.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

const MOST = 30

export function listTasksTool(_deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'list_tasks',
    title: 'My tasks',
    description: 'Lists your tasks with their ids and states: those that run first, then those that ended.',
    input: z.strictObject({}),
    readOnly: true,
    async run(tx, _args, { agent, thread }) {
      const parent = thread === mainThreadId(agent) ? undefined : thread
      const rows = await listTasks(tx, { agent, parent, limit: MOST })
      return {
        text: rows.map(describe).join('\n') || 'No tasks.',
        isError: false,
        structured: { tasks: rows.map(toView) },
      }
    },
  })
}

function toView(row: ThreadRow) {
  const { id, status, instructions, summary, created_at, ended_at } = row
  return {
    id,
    status,
    instructions,
    summary,
    result: taskResultOf(row),
    createdAt: created_at,
    endedAt: ended_at,
  }
}

function describe({ id, status, instructions, summary, result_json }: ThreadRow): string {
  const end = summary === null ? '' : `\n  ${truncate(toLine(summary), 300)}`
  const result = result_json === null ? '' : `\n  Result: ${truncate(toLine(result_json), 300)}`
  return `${id} (${status}): ${truncate(toLine(instructions ?? ''), 200)}${end}${result}`
}
