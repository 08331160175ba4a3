import { Routes } from 'discord.js'
import { describeError } from '../../core/errors.ts'
import type { SessionParts } from './parts.ts'
import { channelOf } from './people.ts'

/** Discord shows that somebody types for ten seconds. */
const AGAIN_MS = 8_000
/** Times that it is shown for one message, over some minutes. */
const MOST = 40

/** Shows that the bot types in a conversation until something is said there. */
export function createTyping(parts: SessionParts) {
  const { client, clock, signals, settings, log } = parts
  const cancels = new Map<string, () => void>()
  const stop = (conversation: string) => {
    cancels.get(conversation)?.()
    cancels.delete(conversation)
  }
  const show = (conversation: string, left: number) => {
    stop(conversation)
    const channel = channelOf(settings(), conversation)
    if (channel === undefined || left === 0) return
    cancels.set(
      conversation,
      clock.after(AGAIN_MS, () => show(conversation, left - 1)),
    )
    client.rest
      .post(Routes.channelTyping(channel))
      .catch(error => log.debug('discord_typing_failed', { channel, error: describeError(error) }))
  }
  const off = signals.on('message', ({ kind, conversation }) => {
    if (kind !== 'user' && kind !== 'tool') stop(conversation)
  })
  return {
    start: (conversation: string) => show(conversation, MOST),
    [Symbol.dispose]() {
      off()
      for (const cancel of cancels.values()) cancel()
    },
  }
}
