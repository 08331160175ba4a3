import type { EventListed } from '../../schemas/inbox.ts'

/** The parts of an agent by which messages and events find it. */
export interface FoundAgent {
  name: string
  conversations: readonly string[]
  events: readonly EventListed[]
}

/** Finds agents without looking at each. A list that replaces another is looked through once. */
export interface FindAgents<Agent> {
  /** Returns the agents of a conversation, in the order of the list. */
  ofConversation(conversation: string): readonly Agent[]
  /** Returns the agents that list some event. */
  listingEvents(): readonly Agent[]
}

/** Creates the search over a list that is replaced, never changed. */
export function createFindAgents<Agent extends FoundAgent>(
  agents: () => readonly Agent[],
): FindAgents<Agent> {
  let index: ReturnType<typeof toIndex<Agent>> | undefined
  const current = () => {
    const all = agents()
    if (index?.all !== all) index = toIndex(all)
    return index
  }
  return {
    ofConversation(conversation) {
      const { byConversation, byName } = current()
      const own = byName.get(conversation.split('/')[0] ?? conversation) ?? []
      const listed = byConversation.get(conversation) ?? []
      const places = new Map([...own, ...listed].map(found => [found.place, found.agent]))
      return [...places].sort(([one], [other]) => one - other).map(([, agent]) => agent)
    },
    listingEvents: () => current().listing,
  }
}

function toIndex<Agent extends FoundAgent>(all: readonly Agent[]) {
  const placed = all.map((agent, place) => ({ agent, place }))
  const listed = placed.flatMap(found =>
    found.agent.conversations.map(conversation => ({ ...found, conversation })),
  )
  return {
    all,
    byConversation: Map.groupBy(listed, ({ conversation }) => conversation),
    byName: Map.groupBy(placed, ({ agent }) => agent.name),
    listing: all.filter(({ events }) => events.length > 0),
  }
}
