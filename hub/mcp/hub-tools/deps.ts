import type { AgentStatus, ChatMessage, NewUserMessage, StopTarget } from '../../../schemas/chat.ts'
import type { HubStatus } from '../../../schemas/hub-status.ts'
import type { NewEvent, RoutedEvent } from '../../../schemas/inbox.ts'
import type { Power, ToolClass } from '../../../schemas/power.ts'
import type { Clock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { NewId } from '../../core/ids.ts'
import type { Signals } from '../../core/signals.ts'
import type { Store } from '../../store/open.ts'

export interface ListedAgent {
  name: string
  description: string
  status: AgentStatus
  conversations: readonly string[]
}

/** The dependencies of what only reads. */
export interface HubToolReads {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  timezone: string
  /** Returns all agents, retired ones too. */
  agents: () => Promise<ListedAgent[]>
}

export interface HubToolDeps extends HubToolReads {
  postMessage: (message: NewUserMessage) => Promise<ChatMessage>
  /** Starts an agent's history fresh. Throws `not_found`. */
  reset: (request: {
    agent: string
    by: string
    message?: string | undefined
  }) => Promise<{ conversation: string }>
  stop: (target: StopTarget, by: string) => Promise<{ thread: string; cycle?: string }[]>
  /** Says what the policy answers to calls that an agent could make. */
  explain: (question: {
    agent: string
    tool?: string | undefined
    power: Power
    hasReadForeign: boolean
  }) => {
    tool: string
    toolClass: ToolClass
    kind: 'run' | 'ask' | 'refuse'
    reason: string
  }[]
  /** Accepts a server's tools as they are; returns those that had changed. Throws `not_found`. */
  acceptTools: (server: string, by: string) => Promise<string[]>
  postEvent: (event: NewEvent) => Promise<RoutedEvent | undefined>
  /**
   * Returns servers and their health, model, queues, store, version; with `health` also that of the programs
   * behind servers.
   */
  status: (asked: { health?: boolean | undefined }) => Promise<HubStatus>
}

const DEFAULT_AGENT = 'homelab'

/** Returns the named agent, else homelab, else the first by name. Throws `not_found` that lists them. */
export async function meantAgent(deps: HubToolDeps, named: string | undefined): Promise<ListedAgent> {
  const agents = (await deps.agents()).filter(agent => agent.status !== 'retired' || agent.name === named)
  const meant = agents.find(agent => agent.name === (named ?? DEFAULT_AGENT))
  const agent = named === undefined ? (meant ?? agents[0]) : meant
  if (agent) return agent
  const there = agents.map(({ name }) => name).join(', ')
  const what = named === undefined ? 'yet: write agents/<name>.md' : `${named}; agents: ${there || 'none'}`
  throw new HubError('not_found', `There is no agent ${what}`)
}

/** Tells whether the agent answers in a conversation, which its first use makes. */
export function takesConversation({ name, status, conversations }: ListedAgent, id: string): boolean {
  return status !== 'retired' && (conversations.includes(id) || id.split('/')[0] === name)
}
