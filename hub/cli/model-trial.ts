import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decideTold } from '../catalogue/tool-box.ts'
import { readAgentFiles } from '../config/agent-files.ts'
import type { Environment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { packageFolder } from '../config/paths.ts'
import { systemClock, systemTimezone, timeoutSignal } from '../core/clock.ts'
import { describeError, HubError } from '../core/errors.ts'
import { createIds } from '../core/ids.ts'
import type { Model, ModelConfig, ModelTool } from '../core/model.ts'
import { createSignals } from '../core/signals.ts'
import { createMetaTools } from '../meta-tools/index.ts'
import { NO_QUIRKS, openModel } from '../model/create-model.ts'
import { type LookedUpModel, lookUp } from '../model/sizes.ts'
import { type ModelFinding, tryModel } from '../model/try-model.ts'
import { toSystemPrompt } from '../runtime/prompt.ts'
import { estimateTokens } from '../runtime/tokens.ts'
import { listHubTools } from './call-hub.ts'
import { findHub } from './find-hub.ts'

/** The prompt and tools with which every request of an agent begins. */
export interface AgentRequest {
  agent: string
  system: string
  tools: ModelTool[]
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

/** Milliseconds for an answer: a model at home may have to be loaded first, and reads long prompts slowly. */
const TIMEOUT = 5 * 60_000

/**
 * Tries a model with an agent's request as it is; where the provider refuses that, with the changes that a
 * hub would make. Reports what the model cannot do as findings; it never throws for that.
 */
export async function tryEntry(entry: ModelConfig, request: AgentRequest): Promise<ModelFinding[]> {
  const known = await lookUp({ ...entry, clock: systemClock })
  const { context, maxOutput, price, vision } = known.sizes
  const filled = { ...entry, context, maxOutput, price, vision }
  const options = { clock: systemClock, quirks: NO_QUIRKS }
  const plain = await run(await openModel(filled, { ...options, mostRepairs: 0 }), request, known)
  if (!hasProblem(plain)) return plain
  const model = await openModel(filled, options)
  const repaired = await run(model, request, known)
  const quirks = model.quirks?.() ?? []
  const leftOut = new Set(quirks.flatMap(({ tools = [] }) => tools))
  // A model that takes few of the tools is of no use for an agent.
  if (quirks.length === 0 || hasProblem(repaired) || leftOut.size * 2 > request.tools.length) return plain
  const changes = quirks.map(
    ({ what }): ModelFinding => ({ level: 'warning', what: `${what} (the hub sees to it)` }),
  )
  return [...changes, ...repaired]
}

function hasProblem(findings: readonly ModelFinding[]): boolean {
  return findings.some(({ level }) => level === 'problem')
}

async function run(
  model: Model,
  { system, tools }: AgentRequest,
  { reported, server }: LookedUpModel,
): Promise<ModelFinding[]> {
  const deadline = timeoutSignal(systemClock, TIMEOUT, 'The model')
  try {
    return await tryModel(model, {
      system,
      tools,
      reported,
      server,
      timezone: systemTimezone(),
      estimate: estimateTokens,
      clock: systemClock,
      signal: deadline.signal,
    })
  } catch (error) {
    return [{ level: 'problem', what: describeError(error) }]
  } finally {
    deadline.cancel()
  }
}
