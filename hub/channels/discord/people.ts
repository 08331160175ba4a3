import type { DiscordSettings } from '../../../schemas/discord.ts'
import type { Principal } from '../../core/principal.ts'

/** A person on Discord. */
export interface Sender {
  id: string
  /** The unique name, which Discord keeps to a-z, 0-9, `_` and `.`. */
  username: string
  /** Ids of the roles in the server where the person acts; none in direct messages. */
  roles: readonly string[]
}

type Lists = Pick<DiscordSettings, 'owner' | 'talk' | 'approve' | 'strangers'>

/** Returns the name under which a person's messages and decisions are kept. */
export function nameOf({ username, id }: Pick<Sender, 'id' | 'username'>): string {
  return `${username} (Discord ${id})`
}

/** Decides as whom a person talks; undefined for somebody who gets no answer. */
export function toPrincipal(lists: Lists, sender: Sender): Principal | undefined {
  const { id } = sender
  if (id === lists.owner) return { id, name: nameOf(sender), role: 'owner' }
  if (isListed(lists.talk, sender)) return { id, name: nameOf(sender), role: 'member' }
  // A guest's conversations are found by this name.
  return lists.strangers === 'guests' ? { id, name: `discord-${id}`, role: 'guest' } : undefined
}

/** Tells whether a person may answer approvals. */
export function mayApprove(lists: Lists, sender: Sender): boolean {
  return sender.id === lists.owner || isListed(lists.approve, sender)
}

function isListed(ids: readonly string[], { id, roles }: Sender): boolean {
  return ids.includes(id) || roles.some(role => ids.includes(role))
}

/** The place of a message on Discord. */
export interface Place {
  channel: string
  /** The channel that a thread is part of. */
  parent?: string | null | undefined
  /** Whether it is meant for the bot: a direct message, a mention or a command. */
  isAddressed: boolean
}

/**
 * Decides in which conversation a message belongs; undefined where it is not for an agent. A thread and a
 * channel that is not in the config have a conversation of their own, and so has each guest. `agentOf` finds
 * who answers in a conversation, by default the default agent.
 */
export function decideConversation(
  { channels }: Pick<DiscordSettings, 'channels'>,
  { role, name }: Principal,
  { channel, parent, isAddressed }: Place,
  agentOf: (conversation: string | undefined) => string,
): string | undefined {
  const listed = channels[channel] ?? (parent ? channels[parent] : undefined)
  if (listed === undefined && !isAddressed) return undefined
  if (role === 'guest') return `${agentOf(listed)}/${name}.${channel}`
  return channels[channel] ?? `${agentOf(listed)}/${PREFIX}${channel}`
}

const PREFIX = 'discord-'

/** Returns the channel in which a conversation is read; undefined for one that is not of Discord. */
export function channelOf(
  { channels }: Pick<DiscordSettings, 'channels'>,
  conversation: string,
): string | undefined {
  const listed = Object.entries(channels).find(([, name]) => name === conversation)
  return listed?.[0] ?? /\/discord-(?:\d+\.)?(\d{17,20})$/.exec(conversation)?.[1]
}
