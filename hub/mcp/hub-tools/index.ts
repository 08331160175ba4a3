import { acceptTools } from './accept-tools.ts'
import { removeFact, storeFact } from './agent-facts.ts'
import { checkAgent, readAgent, removeAgent, writeAgent } from './agent-files.ts'
import { listAgents } from './agents.ts'
import { listAllApprovals } from './approvals.ts'
import { listAuditRows, verifyAuditChain } from './audit.ts'
import { chat } from './chat.ts'
import { readConfig } from './config.ts'
import { releaseAgents, reset, retryModel, stop } from './control.ts'
import {
  changeOneConversation,
  deleteOneConversation,
  listAllConversations,
  readConversation,
  searchAllMessages,
} from './conversations.ts'
import { discardOne, listAllDeadLetters, retryOne } from './dead-letters.ts'
import { listAllEvents, publishEvent } from './events.ts'
import { explainCycle } from './explain-cycle.ts'
import { readHouse } from './house.ts'
import type { HubTool } from './hub-tool.ts'
import { allowReach, describeReach, linkDevice } from './network.ts'
import { explainPolicy, listAllAllowances, revokeOne } from './policy.ts'
import { findPrograms, listPrograms, setNotify, setProgram, tryProgram } from './programs.ts'
import { readCallTool, readThreadTool } from './read-thread.ts'
import { cancelOne, createOne, listAllSchedules } from './schedules.ts'
import { searchAll } from './search-history.ts'
import {
  addServer,
  changeServer,
  readServer,
  readServerLog,
  removeServer,
  restartServer,
  restoreServer,
} from './servers.ts'
import { describeClient, findModels, setModel, tryModel } from './setup.ts'
import { status } from './status.ts'
import { listAllThreads } from './threads.ts'
import { addPerson, createToken, listAllTokens, removePerson, revokeToken } from './tokens.ts'

/** The hub's own tools, in the order in which clients see them. */
export const hubTools: readonly HubTool[] = [
  chat,
  listAgents,
  readConversation,
  listAllThreads,
  readThreadTool,
  readCallTool,
  explainCycle,
  stop,
  reset,
  listAllSchedules,
  createOne,
  cancelOne,
  publishEvent,
  listAllEvents,
  listAllApprovals,
  explainPolicy,
  listAllAllowances,
  revokeOne,
  listAllDeadLetters,
  retryOne,
  discardOne,
  searchAll,
  status,
  releaseAgents,
  retryModel,
  acceptTools,
  readServer,
  readServerLog,
  addServer,
  changeServer,
  restartServer,
  removeServer,
  restoreServer,
  listAllConversations,
  searchAllMessages,
  changeOneConversation,
  deleteOneConversation,
  listAllTokens,
  createToken,
  revokeToken,
  addPerson,
  removePerson,
  readAgent,
  checkAgent,
  writeAgent,
  removeAgent,
  storeFact,
  removeFact,
  readConfig,
  findModels,
  tryModel,
  setModel,
  listPrograms,
  findPrograms,
  tryProgram,
  setProgram,
  setNotify,
  describeClient,
  describeReach,
  allowReach,
  linkDevice,
  listAuditRows,
  verifyAuditChain,
  readHouse,
]

const BY_NAME = new Map(hubTools.map(tool => [tool.definition.name, tool]))

export function hubToolOf(name: string): HubTool | undefined {
  return BY_NAME.get(name)
}
