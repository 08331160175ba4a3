import type { ListedWhy, WholeCall } from '../../schemas/hub-lists.ts'
import type { Clock } from './clock.ts'
import { applyLeaving, applyProblem, type ChatState } from './conversation-store.ts'
import { type Mcp, reasonOf } from './mcp.ts'
import type { Store } from './store.ts'
import { costWords } from './words.ts'

/** Milliseconds in which a deletion can be undone: only then the hub is told, which has no undo. */
export const UNDO_WITHIN = 60_000

/** A message that a search found. */
export interface FoundMessage {
  conversation: string
  seq: number
  author: string
  at: number
  snippet: string
}

interface ChangesParts {
  mcp: Pick<Mcp, 'call'>
  clock: Clock
  chat: Store<ChatState>
}

/** Renames, pins and deletes conversations for a person; what the hub refuses becomes a problem. */
export function createConversationChanges({ mcp, clock, chat }: ChangesParts) {
  const waiting = new Map<string, () => void>()

  async function attempt(tool: string, args: Record<string, unknown>, failure: string) {
    try {
      await mcp.call(tool, args)
    } catch (error) {
      chat.set(applyProblem(chat.get(), `${failure} ${reasonOf(error)}`, clock.now()))
    }
  }

  async function send(id: string) {
    waiting.delete(id)
    await attempt('hub_delete_conversation', { conversation: id }, 'The conversation was not deleted.')
    chat.set(applyLeaving(chat.get(), id, false))
  }

  return {
    /** Reads a tool's call with its whole result; throws an McpError. */
    readCall: (call: string) => mcp.call<WholeCall>('hub_read_call', { call }),
    /** Reads what the work behind a reply used, and cost; throws an McpError. */
    readCost: async (cycle: string) => costWords(await mcp.call<ListedWhy>('hub_explain_cycle', { cycle })),
    /** Has the work of a dead letter tried again; throws an McpError. */
    retryLetter: (id: string) => mcp.call('hub_retry_dead_letter', { id }),
    /** Has models that cannot be reached asked again now; throws an McpError. */
    async retryModel() {
      await mcp.call('hub_retry_model')
    },
    /** Finds messages of all conversations by their words; throws an McpError. */
    async search(query: string) {
      const { messages = [] } = await mcp.call<{ messages?: FoundMessage[] }>('hub_search_messages', {
        query,
      })
      return messages
    },
    /** Sets the title ('' removes it) or the pin, on all devices. */
    change: (id: string, change: { title?: string; pinned?: boolean }) =>
      attempt('hub_change_conversation', { conversation: id, ...change }, 'Nothing was changed.'),
    /** Hides the conversation, and deletes it once nobody can undo that any more. */
    remove(id: string) {
      waiting.set(
        id,
        clock.after(UNDO_WITHIN, () => void send(id)),
      )
      chat.set(applyLeaving(chat.get(), id, true))
    },
    keep(id: string) {
      waiting.get(id)?.()
      waiting.delete(id)
      chat.set(applyLeaving(chat.get(), id, false))
    },
    /** Sends the deletions that wait: the page is about to close. */
    finish() {
      for (const [id, cancel] of waiting) {
        cancel()
        void send(id)
      }
    },
  }
}
