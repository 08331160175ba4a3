import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decideTold } from '../catalogue/tool-box.ts'
import { readAgentFiles } from '../config/agent-files.ts'
import type { Environment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { packageFolder } from '../config/paths.ts'
import { systemClock, systemTimezone } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { createIds } from '../core/ids.ts'
import { createSignals } from '../core/signals.ts'
import { createMetaTools } from '../meta-tools/index.ts'
import type { TrialRequest } from '../model/try-entry.ts'
import { toSystemPrompt } from '../runtime/prompt.ts'
import { estimateTokens } from '../runtime/tokens.ts'
import { listHubTools } from './call-hub.ts'
import { findHub } from './find-hub.ts'

/** The prompt and tools with which every request of an agent begins. */
export interface AgentRequest extends TrialRequest {
  agent: string
  /** Reason why the servers' tools are missing. */
  without?: string
}

/** Returns the default agent's prompt and the tools that it sees: the servers' too where a hub runs. */
export async function readAgentRequest(config: Config, environment: Environment): Promise<AgentRequest> {
  const folder = existsSync(config.agentsFolder) ? config.agentsFolder : join(packageFolder, 'agents')
  const { agents } = readAgentFiles(folder, environment, config.model)
  const agent = agents.find(({ name }) => name === 'homelab') ?? agents[0]
  if (!agent) throw new HubError('not_found', `${folder} has no agent whose request could be tried`)
  // The meta-tools are never called here: only their definitions count.
  const metaTools = createMetaTools({
    newId: createIds(systemClock.now),
    signals: createSignals(() => undefined),
    agentsOf: () => [],
    agent: () => undefined,
  })
  const listed = await listServersTools(config)
  const { told } = decideTold(agent.tools, metaTools, listed.tools)
  return {
    agent: agent.name,
    system: toSystemPrompt(agent),
    tools: told,
    timezone: systemTimezone(),
    estimate: estimateTokens,
    clock: systemClock,
    ...(listed.without === undefined ? {} : { without: listed.without }),
  }
}

/** Lists the tools that agents may get: not the hub's own. */
async function listServersTools(config: Config) {
  try {
    const all = await listHubTools(findHub(config))
    return { tools: all.filter(({ name }) => !name.startsWith('hub_')), without: undefined }
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return { tools: [], without: error.message }
  }
}
