import type { GuildMember, Message, TextBasedChannel } from 'discord.js'
import { messageText, type NewUserMessage } from '../../../schemas/chat.ts'
import { describeError, HubError, toPublicError } from '../../core/errors.ts'
import { withoutNul } from '../../core/json.ts'
import { checkUse, type Principal, powerOf } from '../../core/principal.ts'
import { createBuckets } from '../../core/rate-limit.ts'
import type { Outbox } from './outbox.ts'
import { findAgent, type SessionParts } from './parts.ts'
import { decideConversation, nameOf, type Place, type Sender, toPrincipal } from './people.ts'
import { createTurns, isNewer } from './turns.ts'

/** Messages of one channel that are read after the hub was away; older ones are skipped. */
const MOST_MISSED = 500
const PAGE = 100
/** Messages that one guest may send: ten at once, then one a minute. */
const GUEST_MESSAGES = { perSecond: 1 / 60, burst: 10 }
/** How often a guest is told of that. */
const TOLD = { perSecond: 1 / 600, burst: 1 }
const TOO_MANY =
  'That is more than a guest may send: ten messages, then one a minute. This one was not read; send it again in a minute.'

export interface InboundDeps extends SessionParts {
  outbox: Pick<Outbox, 'begin'>
  typing: { start(conversation: string): void }
}

/** Posts what people write. Messages of one channel are handled in their order, the owner's before all that wait. */
export interface Inbound {
  /** Posts a message if it is for an agent; durable before anything shows on Discord. */
  take(message: Message): void
  /** Posts a text as a person's message; returns its conversation. Throws what the person is told. */
  post(said: Said): Promise<string>
  /** Decides as whom a person talks, and where. */
  locate(sender: Sender, place: Place): { principal: Principal; conversation: string } | undefined
  /** Reads what was written while the hub was away. */
  catchUp(): Promise<void>
  done(): Promise<unknown>
}

export interface Said {
  sender: Sender
  place: Place
  text: string
  /** Discord's id of the message or the command: it is posted once. */
  id: string
}

export function createInbound(deps: InboundDeps): Inbound {
  const { settings, log } = deps
  const mayTalk = createBuckets(GUEST_MESSAGES)
  const mayHear = createBuckets(TOLD)
  const locate = (sender: Sender, place: Place) => {
    const principal = toPrincipal(settings(), sender)
    const nameAgent = (listed: string | undefined) => findAgent(deps, listed) ?? 'homelab'
    const conversation = principal && decideConversation(settings(), principal, place, nameAgent)
    return principal && conversation !== undefined
      ? { principal: { ...principal, place: conversation }, conversation }
      : undefined
  }
  const post = async ({ sender, place, text, id }: Said) => {
    const located = locate(sender, place)
    if (!located) throw new HubError('forbidden', 'This bot answers only the people in its config.')
    const { principal, conversation } = located
    checkUse(deps.mayUse, principal, conversation)
    if (principal.role === 'guest' && !mayTalk(sender.id, deps.clock.now()))
      throw new HubError('rate_limited', TOO_MANY)
    await deps.outbox.begin(conversation)
    const message: NewUserMessage = {
      conversation,
      text: messageText.parse(withoutNul(text)),
      author: nameOf(sender),
      power: powerOf(principal),
      door: 'discord',
      clientId: id,
    }
    await deps.postMessage(message)
    return conversation
  }
  const answer = async (message: Message) => {
    const sender = await toSender(message, settings().talk.length > 0)
    const place = toPlace(message, deps.client.user?.id ?? '')
    const text = toText(message, deps.client.user?.id ?? '')
    if (text === '' || !locate(sender, place)) return
    if (deps.state.get('seen', message.channelId) === undefined)
      await deps.state.set('seen', message.channelId, String(BigInt(message.id) - 1n))
    try {
      deps.typing.start(await post({ sender, place, text, id: message.id }))
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      if (error.code === 'rate_limited' && !mayHear(sender.id, deps.clock.now())) return
      await message.reply({ content: toPublicError(error).message })
    }
  }
  const turns = createTurns<Message>({
    isFirst: ({ author }) => author.id === settings().owner,
    handle: async message => {
      if (isOfPerson(message)) await answer(message)
    },
    async onDone(channel, id) {
      const seen = deps.state.get('seen', channel)
      const isKept = seen !== undefined || settings().channels[channel] !== undefined
      if (isKept && isNewer(id, seen)) await deps.state.set('seen', channel, id)
    },
    onError: ({ id }, error) => log.error('discord_message_failed', { message: id, error }),
  })
  const { take, done } = turns
  return { take, post, locate, catchUp: () => catchUp(deps, take), done }
}

/** Tells whether a person wrote it: never a bot, a webhook or Discord itself, which would answer each other for ever. */
function isOfPerson({ author, webhookId, system }: Message): boolean {
  return !author.bot && webhookId === null && !system
}

/** Returns who wrote a message. A message that was read later comes without its author's roles, which are asked for. */
async function toSender({ author, member, guild }: Message, needsRoles: boolean): Promise<Sender> {
  const found = member ?? (needsRoles ? await guild?.members.fetch(author.id).catch(() => null) : null)
  return { id: author.id, username: author.username, roles: rolesOf(found ?? null) }
}

/** Returns the ids of a member's roles; the library knows only ids of a member whose server it does not. */
export function rolesOf(member: Pick<GuildMember, 'roles'> | { roles: string[] } | null): string[] {
  if (member === null) return []
  return Array.isArray(member.roles) ? member.roles : [...member.roles.cache.keys()]
}

function toPlace({ channel, channelId, mentions }: Message, bot: string): Place {
  const parent = channel.isThread() ? channel.parentId : undefined
  return { channel: channelId, parent, isAddressed: channel.isDMBased() || mentions.users.has(bot) }
}

/** Returns the text without the mention of the bot; files are named, since nobody reads them. */
function toText({ cleanContent, content, attachments, mentions }: Message, bot: string): string {
  const name = mentions.users.get(bot)?.username
  const text = name === undefined ? cleanContent : cleanContent.replaceAll(new RegExp(`@${name}\\b`, 'g'), '')
  const files = attachments.map(
    ({ name, contentType, size }) => `(attached, not read: ${name}, ${contentType ?? 'file'}, ${size} bytes)`,
  )
  return content.trim() === '' && files.length === 0 ? '' : [text.trim(), ...files].join('\n').trim()
}

/** Reads what came after the last message that was handled, in every known channel and in new threads of listed ones. */
async function catchUp(
  { client, state, settings, problems, log }: SessionParts,
  take: (message: Message) => void,
) {
  const listed = Object.keys(settings().channels)
  const before = new Map(listed.map(id => [id, state.get('seen', id)]))
  for (const id of new Set([...listed, ...state.ids('seen')])) {
    try {
      const channel = await client.channels.fetch(id)
      if (!channel?.isTextBased()) throw new HubError('invalid_arguments', 'it takes no messages')
      problems.delete(`read ${id}`)
      const seen = state.get('seen', id)
      // The past of a channel that is new to the hub is not read.
      if (seen === undefined) await state.set('seen', id, channel.lastMessageId ?? id)
      else for (const message of await readAfter(channel, seen)) take(message)
    } catch (error) {
      const why = describeError(error)
      log.warn('discord_channel_not_read', { channel: id, error: why })
      if (listed.includes(id))
        problems.set(
          `read ${id}`,
          `Discord's channel ${id} cannot be read: ${why}. Invite the bot to its server and let it view the channel and its history.`,
        )
    }
  }
  for (const channel of client.channels.cache.values()) {
    const seen = channel.isThread() ? before.get(channel.parentId ?? '') : undefined
    if (!channel.isThread() || seen === undefined || state.get('seen', channel.id) !== undefined) continue
    if (isNewer(channel.id, seen)) for (const message of await readAfter(channel, channel.id)) take(message)
  }
}

/** Reads the messages after an id, the oldest first. */
async function readAfter(channel: TextBasedChannel, after: string): Promise<Message[]> {
  const all: Message[] = []
  for (let from = after; all.length < MOST_MISSED; ) {
    const page = await channel.messages.fetch({ after: from, limit: PAGE, cache: false })
    const sorted = [...page.values()].sort((one, other) => (isNewer(one.id, other.id) ? 1 : -1))
    all.push(...sorted)
    from = sorted.at(-1)?.id ?? from
    if (sorted.length < PAGE) break
  }
  return all
}
