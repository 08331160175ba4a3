import { completeTask } from './complete-task.ts'
import { getContext, storeContext } from './context.ts'
import type { MetaDeps, MetaTool } from './meta-tool.ts'
import { readFile } from './read-file.ts'
import { readMessages } from './read-messages.ts'
import { cancelSchedule, listSchedules, scheduleCron, scheduleWake } from './schedules.ts'
import { searchHistory } from './search-history.ts'
import { sendMessage } from './send-message.ts'
import { cancelTask, createTask, listTasks } from './tasks.ts'

/** Every meta-tool, in the order in which agents see them. */
const all: readonly ((deps: MetaDeps) => MetaTool)[] = [
  scheduleWake,
  scheduleCron,
  listSchedules,
  cancelSchedule,
  completeTask,
  storeContext,
  getContext,
  createTask,
  listTasks,
  cancelTask,
  sendMessage,
  searchHistory,
  readMessages,
  readFile,
]

export function createMetaTools(deps: MetaDeps): MetaTool[] {
  return all.map(create => create(deps))
}
