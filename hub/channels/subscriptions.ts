import type { ChatMessage, HubFrame } from '../../schemas/chat.ts'
import type { Log } from '../core/log.ts'

const PAGE = 500

/** What one client has subscribed to; every message reaches it once, in order, without a gap. */
export interface Subscriptions {
  has(conversation: string): boolean
  /** Sends `subscribed`, then every message after `after` (omitted: none), then live ones. */
  add(conversation: string, after: number | undefined): Promise<void>
  onMessage(message: ChatMessage): void
  /** The conversation was deleted and counts from 1 again: so does its subscription, which the client is told. */
  onForgotten(conversation: string): void
  clear(): void
}

export interface SubscriptionsDeps {
  log: Log
  send: (frame: HubFrame) => void
  readMessages: (conversation: string, after: number, limit: number) => Promise<ChatMessage[]>
  lastSeq: (conversation: string) => Promise<number>
}

interface Subscription {
  /** The newest seq that was sent. */
  sent: number
  reading: boolean
  /** Something was appended while it was read. */
  missed: boolean
}

export function createSubscriptions(deps: SubscriptionsDeps): Subscriptions {
  const subscriptions = new Map<string, Subscription>()
  let deletions = 0

  /** Sends what is stored and was not sent yet; what is appended meanwhile is stored too. */
  const catchUp = async (conversation: string, subscription: Subscription) => {
    if (subscription.reading) return
    subscription.reading = true
    try {
      let page: ChatMessage[]
      do {
        subscription.missed = false
        page = await deps.readMessages(conversation, subscription.sent, PAGE)
        // What was read for one that was replaced meanwhile may be deleted, or is read again.
        if (subscriptions.get(conversation) !== subscription) return
        for (const message of page) deliver(subscription, message)
      } while (page.length > 0 || subscription.missed)
    } finally {
      subscription.reading = false
    }
  }
  const deliver = (subscription: Subscription, message: ChatMessage) => {
    if (message.seq <= subscription.sent) return
    subscription.sent = message.seq
    deps.send({ type: 'message', message })
  }
  const begin = (conversation: string, sent: number, lastSeq: number) => {
    const subscription = { sent, reading: false, missed: false }
    subscriptions.set(conversation, subscription)
    deps.send({ type: 'subscribed', conversation, lastSeq })
    return catchUp(conversation, subscription)
  }
  /** Never less than what was sent: to the client, less is a conversation that was deleted. */
  const readLastSeq = async (conversation: string) => {
    let lastSeq: number
    let before: number
    do {
      before = deletions
      lastSeq = await deps.lastSeq(conversation)
    } while (before !== deletions)
    return Math.max(lastSeq, subscriptions.get(conversation)?.sent ?? 0)
  }
  const report = (error: unknown) => deps.log.error('catch_up_failed', { error })
  return {
    has: conversation => subscriptions.has(conversation),
    async add(conversation, after) {
      const lastSeq = await readLastSeq(conversation)
      await begin(conversation, Math.min(after ?? lastSeq, lastSeq), lastSeq)
    },
    onMessage(message) {
      const subscription = subscriptions.get(message.conversation)
      if (!subscription) return
      subscription.missed = subscription.reading
      if (!subscription.reading && message.seq === subscription.sent + 1)
        return deliver(subscription, message)
      catchUp(message.conversation, subscription).catch(report)
    },
    onForgotten(conversation) {
      deletions++
      if (subscriptions.has(conversation)) begin(conversation, 0, 0).catch(report)
    },
    clear: () => subscriptions.clear(),
  }
}
