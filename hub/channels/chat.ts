import type {
  Approval,
  ChatMessage,
  ConversationEntry,
  Decision,
  NewUserMessage,
  StopTarget,
} from '../../schemas/chat.ts'
import type { Log } from '../core/log.ts'
import type { Principal } from '../core/principal.ts'
import type { Signals } from '../core/signals.ts'
import { lastSeqOf, listConversations, readMessages } from '../store/conversations.ts'
import type { Store } from '../store/open.ts'

/** The parts of the hub that a channel uses: what people do, and what happens in conversations. */
export interface Chat {
  log: Log
  /** Tells of messages, streamed text, calls, agents and approvals, each after its commit. */
  signals: Signals
  /** Stores a message before it resolves; its text fits `messageText`. Throws `not_found` and `retired`. */
  postMessage: (message: NewUserMessage) => Promise<ChatMessage>
  decide: (decision: Decision) => Promise<Approval>
  /** Tells whether a principal may read and write in a conversation. */
  mayUse: (principal: Principal, conversation: string) => boolean
  /** Resolves with the number of cycles that it stops. */
  stop: (target: StopTarget, by: string) => Promise<number>
  /** Returns messages with a seq above `after`, oldest first. */
  readMessages: (conversation: string, after: number, limit: number) => Promise<ChatMessage[]>
  lastSeq: (conversation: string) => Promise<number>
  /** Returns a conversation as the list shows it; undefined where nothing was said yet. */
  findEntry: (conversation: string) => Promise<ConversationEntry | undefined>
}

interface ChatInputs extends Pick<Chat, 'log' | 'signals' | 'decide'> {
  store: Pick<Store, 'db'>
  router: Pick<Chat, 'mayUse' | 'postMessage'> & {
    agentsOf(conversation: string): string[]
    stop(
      target: StopTarget,
      by: string,
      door: string,
    ): Promise<{ stopped: readonly unknown[]; waiting: readonly unknown[] }>
  }
  /** Name of the channel in records. */
  door: string
}

export function createChat({ log, signals, decide, store: { db }, router, door }: ChatInputs): Chat {
  return {
    log,
    signals,
    decide,
    mayUse: router.mayUse,
    postMessage: router.postMessage,
    async stop(target, by) {
      const { stopped, waiting } = await router.stop(target, by, door)
      return stopped.length + waiting.length
    },
    readMessages: (conversation, after, limit) => readMessages(db, conversation, after, limit),
    lastSeq: conversation => lastSeqOf(db, conversation),
    findEntry: async id =>
      (await listConversations(db, id)).map(one => ({ ...one, agents: router.agentsOf(id) }))[0],
  }
}
