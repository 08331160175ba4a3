import type { ChatMessage, HubFrame } from '../../schemas/chat.ts'
import type { Chat } from './chat.ts'

const PAGE = 500

/** A client's subscriptions; each message of their conversations reaches it once, in order, without a gap. */
export interface Subscriptions {
  has(conversation: string): boolean
  /** Sends `subscribed`, then every message after `after` (omitted: none), then live ones. */
  add(conversation: string, after: number | undefined): Promise<void>
  onMessage(message: ChatMessage): void
  /** Restarts the subscription of a deleted conversation, which counts from 1 again, and tells the client. */
  onForgotten(conversation: string): void
  clear(): void
}

export interface SubscriptionsDeps extends Pick<Chat, 'log' | 'readMessages' | 'lastSeq'> {
  send: (frame: HubFrame) => void
}

interface Subscription {
  /** The seq of the newest message that was sent. */
  sent: number
  reading: boolean
  /** Whether a message was appended during the read. */
  missed: boolean
}

export function createSubscriptions(deps: SubscriptionsDeps): Subscriptions {
  const subscriptions = new Map<string, Subscription>()
  let deletions = 0

  /** Sends the stored messages that were not sent yet, including those that are appended meanwhile. */
  const catchUp = async (conversation: string, subscription: Subscription) => {
    if (subscription.reading) return
    subscription.reading = true
    try {
      let page: ChatMessage[]
      do {
        subscription.missed = false
        page = await deps.readMessages(conversation, subscription.sent, PAGE)
        // A subscription that was replaced drops its page: the messages may be deleted, or are read again.
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
  /** Returns at least the newest seq that was sent: a client takes a lower one for a deleted conversation. */
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
