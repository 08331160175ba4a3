import { withoutPictures } from '../../../schemas/chat.ts'
import { conversationId } from '../../../schemas/names.ts'
import { HubError } from '../../core/errors.ts'
import {
  conversationsBeginning,
  lastSeqOf,
  readMessages,
  recentConversations,
} from '../../store/conversations.ts'
import { type HubToolReads, takesConversation } from '../hub-tools/deps.ts'
import { behind, JSON_TYPE, type ResourceKind } from './kind.ts'

/** Conversations that are listed besides those of agents' files; the template reaches all. */
export const MOST_LISTED = 50
/** Messages in the resource; hub_read_messages reads earlier ones. */
const MOST_MESSAGES = 50
/** Ids that a completion proposes: the most that MCP lets one answer hold. */
const MOST_PROPOSED = 100

const CONVERSATIONS = 'hub://conversations/'

export function toConversationUri(id: string): string {
  return `${CONVERSATIONS}${id}`
}

/** Creates the resources of conversations: the last messages of each. */
export function createConversationResources(deps: HubToolReads): ResourceKind {
  const { db } = deps.store
  const named = async () => (await deps.agents()).flatMap(({ conversations }) => conversations)
  return {
    template: {
      // The `+` keeps the slash of an id as it is.
      uriTemplate: `${CONVERSATIONS}{+id}`,
      name: 'conversation',
      title: 'A conversation',
      description: `The last ${MOST_MESSAGES} messages of a conversation with an agent; hub_read_messages reads earlier ones.`,
      mimeType: JSON_TYPE,
    },
    argument: 'id',
    async list() {
      const ids = new Set([...(await named()), ...(await recentConversations(db, MOST_LISTED))])
      return [...ids].sort().map(id => ({
        uri: toConversationUri(id),
        name: `conversations/${id}`,
        title: `Conversation ${id}`,
        mimeType: JSON_TYPE,
      }))
    },
    async read(uri) {
      const id = behind(CONVERSATIONS, uri)
      return id === undefined ? undefined : readConversation(deps, id)
    },
    async complete(beginning) {
      const own = (await named()).filter(id => id.startsWith(beginning))
      const stored = await conversationsBeginning(db, beginning, MOST_PROPOSED)
      return [...new Set([...own, ...stored])].sort()
    },
  }
}

async function readConversation(deps: HubToolReads, id: string) {
  const { db } = deps.store
  const lastSeq = await lastSeqOf(db, id)
  const agents = await deps.agents()
  const takers = agents.filter(agent => takesConversation(agent, id)).map(({ name }) => name)
  if (lastSeq === 0 && (takers.length === 0 || !conversationId.safeParse(id).success)) {
    const there = agents.map(({ name }) => name).join(', ') || 'none'
    throw new HubError(
      'not_found',
      `There is no conversation ${id}: an id is <agent> or <agent>/<slug>; agents: ${there}`,
    )
  }
  const messages = await readMessages(db, id, Math.max(0, lastSeq - MOST_MESSAGES), MOST_MESSAGES)
  return { conversation: id, agents: takers, messages: messages.map(withoutPictures), lastSeq }
}
