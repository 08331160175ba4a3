import { completeTask } from './complete-task.ts'
import { getContextTool, storeContextTool } from './context.ts'
import type { MetaDeps, MetaTool } from './meta-tool.ts'
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
  sendMessage,
  searchHistoryTool,
]

export function createMetaTools(deps: MetaDeps): MetaTool[] {
  return all.map(create => create(deps))
}
