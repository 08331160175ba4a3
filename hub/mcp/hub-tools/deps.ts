import type { z } from 'zod'
import type { AgentEdit, AgentProblem } from '../../../schemas/agent-edit.ts'
import type { AgentFile, SharedWith } from '../../../schemas/agent-file.ts'
import type { AgentStatus, ChatMessage, NewUserMessage, StopTarget } from '../../../schemas/chat.ts'
import type { Client } from '../../../schemas/clients.ts'
import type { House } from '../../../schemas/house.ts'
import type { ServerDetails, ServerLogLine, ToolMode } from '../../../schemas/hub-servers.ts'
import type { HubStatus } from '../../../schemas/hub-status.ts'
import type { NewEvent, RoutedEvent, StepRequest } from '../../../schemas/inbox.ts'
import type { AskedServer, FoundModels, ModelChoice, ModelFinding } from '../../../schemas/model-choice.ts'
import type { NotifySettings } from '../../../schemas/notify.ts'
import type { Power, ToolClass } from '../../../schemas/power.ts'
import type { FoundProgram, KnownProgram, ProgramChoice } from '../../../schemas/programs.ts'
import type { Reach } from '../../../schemas/reach.ts'
import type { ListedPerson, ListedToken, MadeToken, newToken, Role } from '../../../schemas/tokens.ts'
import type { Clock } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import type { NewId } from '../../core/ids.ts'
import type { ModelMessage, ModelTool } from '../../core/model.ts'
import { type Principal, seesSharedOnly } from '../../core/principal.ts'
import type { Signals } from '../../core/signals.ts'
import type { Store } from '../../store/open.ts'
import type { CycleRow } from '../../store/tables.ts'

export interface ListedAgent {
  name: string
  description: string
  status: AgentStatus
  conversations: readonly string[]
  shared: SharedWith
}

/** The dependencies of what only reads. */
export interface HubToolReads {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  timezone: string
  /** Returns all agents, retired ones too; with `only` that one. */
  agents: (only?: string) => Promise<ListedAgent[]>
}

/** The tokens that open the hub, and the people who may sign in. */
export interface HubTokens {
  list(): Promise<{ tokens: ListedToken[]; people: ListedPerson[] }>
  create(asked: z.output<typeof newToken> & { replace: boolean; by: string }): Promise<MadeToken>
  revoke(which: string, by: string): Promise<ListedToken[]>
  revokeAll(by: string): Promise<{ revoked: ListedToken[]; isOwnerReplaced: boolean }>
  invite(
    person: { name: string; title: string },
    role: ListedPerson['role'] | undefined,
    by: string,
  ): Promise<MadeToken & { role: Role; title: string }>
  /** Makes a link with which the owner signs in on one device, within ten minutes. */
  inviteOwner(by: string): Promise<MadeToken>
  /** Ends a person's sign-ins; false if there is no such person. */
  remove(name: string, by: string): Promise<boolean>
}

/** An agent as its file says. */
export type ParsedAgent = Omit<AgentFile, 'conversations' | 'prompt'> & {
  name: string
  conversations: string[]
}

/** A change of a file; `sha256` is that of the text that it changes, undefined for a new file. */
interface FileEdit {
  name: string
  sha256: string | undefined
}

/** The agents' files. Changes are in force when they resolve. */
interface AgentFiles {
  read(name: string): Pick<AgentEdit, 'file' | 'text' | 'sha256' | 'former'>
  check(name: string, text: string): { agent: ParsedAgent } | { problems: AgentProblem[] }
  /** Throws `bad_request` for a wrong text, `conflict`, and `unavailable`. */
  write(edit: FileEdit & { text: string }, by: Principal): Promise<void>
  /** Throws `conflict` and `unavailable`. */
  remove(edit: FileEdit, by: Principal): Promise<void>
}

/** The servers as the owner changes them. Whatever is written, the hub applies within two seconds. */
export interface HubServers {
  states(): HubStatus['servers']
  /** Writes the servers of a pasted text. Throws `invalid_arguments`, `conflict` and `unavailable`. */
  add(paste: string, name?: string): { name: string; file: string; notes: string[] }[]
  /** Removes a server; `kept` is what it was before. Throws `not_found` too. */
  remove(server: string): { file: string; kept?: string }
  /** Puts a server back that was removed since the hub started. Throws `not_found`, `conflict` and `unavailable`. */
  restore(server: string): { file: string }
  /** Switches a server on or off; returns the files that it wrote, none if it is so already. */
  enable(server: string, enabled: boolean): string[]
  /** Sets who may use a tool; returns the files that it wrote. */
  setToolMode(
    tool: { server: string; original: string; name: string; toolClass: ToolClass | undefined },
    mode: ToolMode,
  ): string[]
  /** Connects to a server anew. Throws `not_found`. */
  restart(server: string): void
  read(server: string): ServerDetails
  log(server: string): readonly ServerLogLine[]
}

/** The default model, and what could take its place. */
interface HubModels {
  find(asked: AskedServer): Promise<FoundModels>
  /** Tries a model with the default agent's request; what it cannot do is a finding. */
  try(entry: ModelChoice): Promise<ModelFinding[]>
  /** Makes it the default model of the config. Throws `conflict` and `unavailable`. */
  keep(entry: ModelChoice, by: Principal): Promise<{ file: string }>
}

/** How other devices reach the hub. */
interface HubNetwork {
  reach(): Reach
  /** Names the refused addresses in the config. Throws `conflict` and `unavailable`. */
  letIn(by: Principal): Promise<{ file: string }>
  /** Path of the document about phones, on the hub's machine. */
  document: string
}

/** The programs that the built-in servers look after. */
interface HubPrograms {
  list(): KnownProgram[]
  find(): Promise<FoundProgram[]>
  /** Throws `not_found` and `invalid_arguments`. */
  try(choice: ProgramChoice): Promise<ModelFinding[]>
  /** Writes its settings; they are in force when it resolves. Throws as `try`, and `conflict` and `unavailable`. */
  set(choice: ProgramChoice, by: Principal): Promise<{ file: string; server: string }>
}

/** A cycle with what was sent for each of its steps, as it is rebuilt from the history. */
interface ExplainedCycle {
  cycle: CycleRow
  steps: readonly {
    step: number
    request?: StepRequest | undefined
    messages: readonly ModelMessage[]
    /** Index of the first message that was not in the request of the step before. */
    fresh: number
    answer: ModelMessage
  }[]
  preamble: { system: string; tools: readonly ModelTool[]; digest: string } | undefined
}

export interface HubToolDeps extends HubToolReads {
  /** Returns what a cycle sent and got. Throws `not_found`. */
  why: (cycle: string) => Promise<ExplainedCycle>
  /** Tells whether a principal may read and write in a conversation. */
  mayUse: (principal: Principal, conversation: string) => boolean
  /** Removes the secrets that the hub knows from a text. */
  redact: (text: string) => string
  postMessage: (message: NewUserMessage) => Promise<ChatMessage>
  tokens: HubTokens
  servers: HubServers
  /** Starts an agent's history fresh. Throws `not_found`. */
  reset: (request: {
    agent: string
    by: string
    message?: string | undefined
  }) => Promise<{ conversation: string }>
  stop: (target: StopTarget, by: string) => Promise<{ thread: string; cycle?: string }[]>
  /** Says what the policy answers to calls that an agent could make. */
  explain: (question: {
    agent: string | ParsedAgent
    tool?: string | undefined
    power: Power
    hasReadForeign: boolean
  }) => {
    tool: string
    toolClass: ToolClass
    kind: 'run' | 'ask' | 'refuse'
    reason: string
    mayBeAllowed: boolean
  }[]
  /** Returns each value of the config with its source, without secrets, and where to change it. */
  describeConfig: () => {
    file: string
    values: readonly { key: string; value: string | undefined; origin: string }[]
    problems: readonly string[]
  }
  models: HubModels
  network: HubNetwork
  programs: HubPrograms
  /** Writes where the owner is told what; it is in force when it resolves. Throws `conflict` and `unavailable`. */
  setNotify: (settings: NotifySettings, by: Principal) => Promise<{ file: string }>
  /** Returns what to paste for a client on the hub's machine. */
  describeClient: (client: Client) => string
  agentFiles: AgentFiles
  /** Accepts a server's tools as they are; returns those that had changed. Throws `not_found`. */
  acceptTools: (server: string, by: string) => Promise<string[]>
  postEvent: (event: NewEvent) => Promise<RoutedEvent | undefined>
  /**
   * Returns servers and their health, model, queues, store, version; with `health` also that of the programs
   * behind servers.
   */
  status: (asked: { health?: boolean | undefined }) => Promise<HubStatus>
  /** Reads the house at a glance. */
  house: () => Promise<House>
  /** Returns the address at which people open the page. */
  url: () => string
}

const DEFAULT_AGENT = 'homelab'

/** Returns the agents that a principal may talk with, retired ones too; with `only` that one. */
export async function seenAgents(
  deps: Pick<HubToolReads, 'agents'>,
  principal: Principal,
  only?: string,
): Promise<ListedAgent[]> {
  return (await deps.agents(only)).filter(({ shared }) => shared !== false || !seesSharedOnly(principal))
}

/** Returns the named agent, else homelab, else the first by name. Throws `not_found` that lists them. */
export async function meantAgent(
  { deps, principal }: { deps: HubToolDeps; principal: Principal },
  named: string | undefined,
): Promise<ListedAgent> {
  const wanted = named ?? DEFAULT_AGENT
  const isMeant = ({ name, status }: ListedAgent) =>
    name === wanted && (status !== 'retired' || name === named)
  const meant = (await seenAgents(deps, principal, wanted)).find(isMeant)
  if (meant) return meant
  const agents = (await seenAgents(deps, principal)).filter(({ status }) => status !== 'retired')
  const [first] = agents
  if (named === undefined && first) return first
  const there = agents.map(({ name }) => name).join(', ')
  const what = named === undefined ? 'yet: write agents/<name>.md' : `${named}; agents: ${there || 'none'}`
  throw new HubError('not_found', `There is no agent ${what}`)
}

/** Throws `not_found` for an agent that has neither a file nor, as a retired one, a past. */
export async function checkAgentIsKnown(
  { agents, agentFiles }: Pick<HubToolDeps, 'agents' | 'agentFiles'>,
  agent: string,
): Promise<void> {
  if (agentFiles.read(agent).text !== undefined || (await agents(agent)).some(one => one.name === agent))
    return
  throw new HubError('not_found', `There is no agent ${agent}; hub_list_agents lists them.`)
}

/** Tells whether the agent answers in a conversation, which its first use makes. */
export function takesConversation({ name, status, conversations }: ListedAgent, id: string): boolean {
  return status !== 'retired' && (conversations.includes(id) || id.split('/')[0] === name)
}
