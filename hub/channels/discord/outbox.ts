import { hash } from 'node:crypto'
import { DiscordAPIError, MessageFlags, Routes } from 'discord.js'
import type { ChatMessage } from '../../../schemas/chat.ts'
import { decideBackoff } from '../../core/backoff.ts'
import { describeError } from '../../core/errors.ts'
import { markOutside } from '../../core/text.ts'
import { findAgent, type SessionParts } from './parts.ts'
import { channelOf } from './people.ts'
import { splitText } from './split.ts'

const BACKOFF = { first: 2_000, longest: 5 * 60_000 }
const PAGE = 100
/** Messages before an answer among which its question is looked for. */
const LOOKBACK = 50
const SNOWFLAKE = /^\d{17,20}$/

/**
 * Sends what agents say in conversations of Discord, each message once and in order: the store has how far it
 * came, and a nonce keeps Discord from posting twice what was sent before the hub could note it.
 */
export interface Outbox extends AsyncDisposable {
  /** Sends what waits, and begins with conversations that the config lists since. */
  follow(): Promise<void>
  /** Notes a conversation, before its first message, so that everything said from now on is sent. */
  begin(conversation: string): Promise<void>
  onMessage(message: ChatMessage): void
  /** Begins a deleted conversation anew, which counts from 1 again. */
  forget(conversation: string): void
}

export function createOutbox(parts: SessionParts): Outbox {
  const { settings, state, log, clock } = parts
  const turns = new Map<string, Promise<void>>()
  const waits = new Map<string, () => void>()
  let isClosed = false
  const begin = async (conversation: string) => {
    if (state.get('sent', conversation)) return
    await state.set('sent', conversation, { seq: await parts.lastSeq(conversation), part: 0 })
  }
  const pump = (conversation: string, tries = 0) => {
    waits.get(conversation)?.()
    const turn = (turns.get(conversation) ?? Promise.resolve()).then(async () => {
      if (isClosed) return
      try {
        await sendAll(parts, conversation)
      } catch (error) {
        if (isClosed) return
        log.warn('discord_not_sent_yet', { conversation, error: describeError(error) })
        const wait = decideBackoff(tries + 1, BACKOFF)
        waits.set(
          conversation,
          clock.after(wait, () => pump(conversation, tries + 1)),
        )
      }
    })
    turns.set(conversation, turn)
  }
  return {
    begin,
    async follow() {
      for (const conversation of Object.values(settings().channels)) await begin(conversation)
      for (const conversation of state.ids('sent')) pump(conversation)
    },
    onMessage({ kind, conversation }) {
      if (kind !== 'user' && kind !== 'tool' && state.get('sent', conversation)) pump(conversation)
    },
    forget(conversation) {
      if (!state.get('sent', conversation)) return
      const turn = (turns.get(conversation) ?? Promise.resolve()).then(() =>
        state.set('sent', conversation, { seq: 0, part: 0 }),
      )
      turns.set(conversation, turn)
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const cancel of waits.values()) cancel()
      await Promise.all(turns.values())
    },
  }
}

/** Sends every message of a conversation that was not sent. Throws where a later try may succeed. */
async function sendAll(parts: SessionParts, conversation: string): Promise<void> {
  const { state, settings } = parts
  const channel = channelOf(settings(), conversation)
  if (channel === undefined) return
  for (;;) {
    const sent = state.get('sent', conversation)
    const page = sent ? await parts.readMessages(conversation, sent.seq, PAGE) : []
    if (page.length === 0) return
    for (const message of page) await sendOne(parts, channel, message)
  }
}

async function sendOne(parts: SessionParts, channel: string, message: ChatMessage): Promise<void> {
  const { state, log, problems } = parts
  const { conversation, seq, id } = message
  const done = { seq, part: 0 }
  if (message.kind === 'user' || message.kind === 'tool') return state.set('sent', conversation, done)
  const texts = splitText(toText(parts, message))
  const before = state.get('sent', conversation) ?? { seq: seq - 1, part: 0 }
  try {
    for (let part = before.part; part < texts.length; part++) {
      const content = texts[part] ?? ''
      const replyTo = part === 0 ? await findQuestion(parts, message) : undefined
      await post(parts, channel, { content, nonce: toNonce(`${id} ${part}`), replyTo })
      await state.set('sent', conversation, { seq: before.seq, part: part + 1 })
    }
    problems.delete(channel)
  } catch (error) {
    if (!isRefusal(error)) throw error
    problems.set(
      channel,
      `Discord refuses messages in the channel ${channel}: ${describeError(error)}. Let the bot see it and write there.`,
    )
    log.warn('discord_refused', { conversation, message: id, error: describeError(error) })
  }
  await state.set('sent', conversation, done)
}

/** Posts a message that mentions nobody and shows no previews, which would fetch links that a model wrote. */
export async function post(
  { client }: Pick<SessionParts, 'client'>,
  channel: string,
  {
    content,
    nonce,
    replyTo,
    components,
  }: { content: string; nonce: string; replyTo?: string | undefined; components?: unknown[] },
): Promise<{ id: string }> {
  const body = {
    content,
    nonce,
    enforce_nonce: true,
    allowed_mentions: { parse: [] },
    flags: MessageFlags.SuppressEmbeds,
    ...(replyTo === undefined
      ? {}
      : { message_reference: { message_id: replyTo, fail_if_not_exists: false } }),
    ...(components ? { components } : {}),
  }
  return (await client.rest.post(Routes.channelMessages(channel), { body })) as { id: string }
}

/** Returns a nonce of 22 characters; Discord takes 25. */
export function toNonce(of: string): string {
  return hash('sha256', of, 'base64url').slice(0, 22)
}

/** Tells whether no later try succeeds: Discord understood the request and refuses it. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof DiscordAPIError && error.status < 500 && error.status !== 401 && error.status !== 429
  )
}

function toText(parts: SessionParts, { kind, author, text, data, conversation }: ChatMessage): string {
  if (kind === 'notice') return `ℹ️ ${text}`
  if (kind === 'error') return `⚠️ ${text}`
  const from = markOutside(data)
  const name = author === findAgent(parts, conversation) ? '' : `**${author}:** `
  return `${name}${from}${text}`
}

/** Returns the message on Discord that an answer answers. */
async function findQuestion(parts: SessionParts, message: ChatMessage): Promise<string | undefined> {
  const { conversation, seq, inReplyTo = [] } = message
  if (inReplyTo.length === 0) return undefined
  const before = await parts.readMessages(conversation, Math.max(0, seq - LOOKBACK), LOOKBACK)
  const asked = before.findLast(
    ({ id, clientId }) => inReplyTo.includes(id) && SNOWFLAKE.test(clientId ?? ''),
  )
  return asked?.clientId
}
