import { cancelTaskTool } from './cancel-task.ts'
import { completeTask } from './complete-task.ts'
import { getContextTool, storeContextTool } from './context.ts'
import { createTaskTool } from './create-task.ts'
import { listTasksTool } from './list-tasks.ts'
import type { MetaDeps, MetaTool } from './meta-tool.ts'
import { readMessagesTool } from './read-messages.ts'
import { cancelSchedule, listSchedules, scheduleCron, scheduleWake } from './schedules.ts'
import { searchHistoryTool } from './search-history.ts'
import { sendMessage } from './send-message.ts'

/** Every meta-tool, in the order in which agents see them. */
const all: readonly ((deps: MetaDeps) => MetaTool)[] = [
  scheduleWake,
  scheduleCron,
  listSchedules,
  cancelSchedule,
  completeTask,
  storeContextTool,
  getContextTool,
  createTaskTool,
  listTasksTool,
  cancelTaskTool,
  sendMessage,
  searchHistoryTool,
  readMessagesTool,
]

export function createMetaTools(deps: MetaDeps): MetaTool[] {
  return all.map(create => create(deps))
}
