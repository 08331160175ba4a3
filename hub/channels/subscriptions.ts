import type { ChatMessage, HubFrame } from '../../schemas/chat.ts'
import type { Log } from '../core/log.ts'

const PAGE = 500

/** What one client has subscribed to; every message reaches it once, in order, without a gap. */
export interface Subscriptions {
  has(conversation: string): boolean
  /** Sends `subscribed`, then every message after `after` (omitted: none), then live ones. */
  add(conversation: string, after: number | undefined): Promise<void>
  onMessage(message: ChatMessage): void
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

  /** Sends what is stored and was not sent yet; what is appended meanwhile is stored too. */
  const catchUp = async (conversation: string, subscription: Subscription) => {
    if (subscription.reading) return
    subscription.reading = true
    try {
      let page: ChatMessage[]
      do {
        subscription.missed = false
        page = await deps.readMessages(conversation, subscription.sent, PAGE)
        for (const message of page) deliver(subscription, message)
      } while ((page.length > 0 || subscription.missed) && subscriptions.get(conversation) === subscription)
    } finally {
      subscription.reading = false
    }
  }
  const deliver = (subscription: Subscription, message: ChatMessage) => {
    if (message.seq <= subscription.sent) return
    subscription.sent = message.seq
    deps.send({ type: 'message', message })
  }
  return {
    has: conversation => subscriptions.has(conversation),
    async add(conversation, after) {
      const lastSeq = await deps.lastSeq(conversation)
      const subscription = { sent: Math.min(after ?? lastSeq, lastSeq), reading: false, missed: false }
      subscriptions.set(conversation, subscription)
      deps.send({ type: 'subscribed', conversation, lastSeq })
      await catchUp(conversation, subscription)
    },
    onMessage(message) {
      const subscription = subscriptions.get(message.conversation)
      if (!subscription) return
      subscription.missed = subscription.reading
      if (!subscription.reading && message.seq === subscription.sent + 1)
        return deliver(subscription, message)
      catchUp(message.conversation, subscription).catch(error => deps.log.error('catch_up_failed', { error }))
    },
    clear: () => subscriptions.clear(),
  }
}
