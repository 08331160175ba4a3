import type { Power } from '../../schemas/power.ts'
import type { Role } from '../../schemas/tokens.ts'
import { HubError } from './errors.ts'
import { matchesGlobs } from './glob.ts'

/** A principal sent a request, and holds a token. */
export interface Principal {
  /** Id of the token; of one person each device has another. */
  id: string
  /** Name of the person or the program, which authors messages. */
  name: string
  role: Role
  /** Globs over the only tools that the token may use; undefined for all of its role. */
  tools?: readonly string[] | undefined
  /** Conversation of the channel in which the person writes: whoever is let into the channel reads it there. */
  place?: string | undefined
}

/**
 * Roles have these rights. `session`: sign in on the page; `chat`: talk with agents; `mcp`: the endpoint for programs;
 * `look`: tools that only look; `act`: all other tools of servers; `stop`: end running work and start histories
 * fresh; `records`: what agents did, with their schedules, events and dead letters; `decide`: answer approvals;
 * `admin`: tokens, people and what only the owner decides; `hook` and `metrics`: these doors.
 */
export type Right =
  | 'session'
  | 'chat'
  | 'mcp'
  | 'look'
  | 'act'
  | 'stop'
  | 'records'
  | 'decide'
  | 'admin'
  | 'hook'
  | 'metrics'

const RIGHTS: Record<Role, readonly Right[]> = {
  owner: ['session', 'chat', 'mcp', 'look', 'act', 'stop', 'records', 'decide', 'admin', 'hook', 'metrics'],
  member: ['session', 'chat', 'mcp', 'look', 'act', 'stop', 'decide'],
  guest: ['session', 'chat', 'mcp', 'look'],
  client: ['chat', 'mcp', 'look', 'act', 'stop', 'records'],
  hook: ['hook'],
  metrics: ['metrics'],
}

/** Tells whether a principal has a right. A token that is narrowed to tools chats only if hub_chat is among them. */
export function may({ role, tools }: Principal, right: Right): boolean {
  const isKept = right !== 'chat' || tools === undefined || matchesGlobs(tools, 'hub_chat')
  return isKept && RIGHTS[role].includes(right)
}

/** Returns the power of what a principal asks agents for. */
export function powerOf({ role }: Principal): Power {
  return role === 'guest' ? 'guest' : 'person'
}

/** Tells whether a principal talks only with agents that are shared. */
export function seesSharedOnly({ role }: Principal): boolean {
  return role === 'member' || role === 'guest'
}

/**
 * Returns the conversation that a program has with an agent by default; with `chat`, the one for that of its chats.
 * A program that serves several chats or people has several.
 */
export function conversationOf(agent: string, { name }: Principal, chat?: string): string {
  return `${agent}/${MCP_SLUG}${name}${chat === undefined ? '' : `.${chat}`}`
}

/** Prefix of the slugs of conversations that programs have with agents; the token's name follows. */
const MCP_SLUG = 'mcp-'

/** How the agents of a conversation are shared, by all of their files. */
export interface Sharing {
  isShared: boolean
  /** Whether the conversation is named as one that all members use. */
  isCommon: boolean
}

/**
 * Tells whether a principal may read and write in a conversation. A program's own conversations are for it and
 * the owner. Members and guests have conversations of their own, and members those that are common.
 */
export function mayUse(principal: Principal, conversation: string, { isShared, isCommon }: Sharing): boolean {
  const { role, name, place } = principal
  if (role === 'owner') return true
  const slug = slugOf(conversation)
  if (isNamedAfter(slug, `${MCP_SLUG}${name}`)) return role === 'client' || isShared
  if (slug.startsWith(MCP_SLUG)) return false
  if (role === 'client') return true
  if (!isShared) return false
  return isOwn(principal, conversation) || (role === 'member' && (isCommon || conversation === place))
}

/** Tells whether a conversation is a person's own: `<agent>/<name>` or `<agent>/<name>.<anything>`. No name holds a dot. */
export function isOwn({ name }: Pick<Principal, 'name'>, conversation: string): boolean {
  return isNamedAfter(slugOf(conversation), name)
}

function slugOf(conversation: string): string {
  return conversation.split('/')[1] ?? ''
}

function isNamedAfter(slug: string, name: string): boolean {
  return slug === name || slug.startsWith(`${name}.`)
}

/** Throws `forbidden` unless a principal may read and write in a conversation. */
export function checkUse(
  mayUse: (principal: Principal, conversation: string) => boolean,
  principal: Principal,
  conversation: string,
): void {
  if (mayUse(principal, conversation)) return
  const { name, role } = principal
  const agent = conversation.split('/')[0]
  const how =
    role === 'client'
      ? 'It belongs to another program.'
      : `Members and guests talk with agents that the owner shares with them, in ${agent}/${name} and ${agent}/${name}.<anything>.`
  throw new HubError('forbidden', `${conversation} is not open to ${name}, whose role is ${role}. ${how}`)
}
