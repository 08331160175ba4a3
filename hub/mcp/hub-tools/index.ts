import { listAgents } from './agents.ts'
import { listAllApprovals } from './approvals.ts'
import { chat } from './chat.ts'
import { discardOne, listAllDeadLetters, retryOne } from './dead-letters.ts'
import { deleteOneConversation } from './delete-conversation.ts'
import type { HubToolDeps } from './deps.ts'
import { listAllEvents, publishEvent } from './events.ts'
import type { HubTool } from './hub-tool.ts'
import { readConversation } from './messages.ts'
import { readThreadTool } from './read-thread.ts'
import { releaseAgents } from './release.ts'
import { reset } from './reset.ts'
import { cancelOne, createOne, listAllSchedules } from './schedules.ts'
import { searchAll } from './search-history.ts'
import { status } from './status.ts'
import { stop } from './stop.ts'
import { listAllThreads } from './threads.ts'

/** The hub's own tools, in the order in which clients see them. */
const all: readonly ((deps: HubToolDeps) => HubTool)[] = [
  chat,
  listAgents,
  readConversation,
  listAllThreads,
  readThreadTool,
  stop,
  reset,
  listAllSchedules,
  createOne,
  cancelOne,
  publishEvent,
  listAllEvents,
  listAllApprovals,
  listAllDeadLetters,
  retryOne,
  discardOne,
  searchAll,
  status,
  releaseAgents,
  deleteOneConversation,
]

export function createHubTools(deps: HubToolDeps): HubTool[] {
  return all.map(create => create(deps))
}
