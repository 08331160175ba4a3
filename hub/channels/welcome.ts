import type { SharedWith } from '../../schemas/agent-file.ts'
import type { HubFrame } from '../../schemas/chat.ts'
import { type Principal, seesSharedOnly } from '../core/principal.ts'
import { listConversations } from '../store/conversations.ts'
import type { Store } from '../store/open.ts'

type Welcome = Extract<HubFrame, { type: 'welcome' }>

interface WelcomeDeps {
  store: Store
  hub: Welcome['hub']
  /** The agents that the principal may talk with. */
  agents: readonly (Welcome['agents'][number] & { conversations: readonly string[]; shared: SharedWith })[]
  mayUse: (principal: Principal, conversation: string) => boolean
  agentsOf: (conversation: string) => string[]
}

/** Reads the first frame of a connection: who is there, and every conversation that the principal may use. */
export async function readWelcome(deps: WelcomeDeps, principal: Principal): Promise<Welcome> {
  const { store, hub, agents, mayUse, agentsOf } = deps
  const { name, role } = principal
  const stored = await listConversations(store.db)
  const first = agents.flatMap(({ name: agent, conversations, shared }) =>
    seesSharedOnly(principal)
      ? [`${agent}/${name}`, ...(typeof shared === 'boolean' ? [] : shared)]
      : conversations,
  )
  const used = new Set(stored.map(({ id }) => id))
  const unused = [...new Set(first)].filter(id => !used.has(id))
  const all = [...stored, ...unused.map(id => ({ id, lastSeq: 0 }))]
  return {
    type: 'welcome',
    protocol: 1,
    hub,
    agents: agents.map(({ name, description, status }) => ({ name, description, status })),
    you: { name, role },
    conversations: all
      .filter(({ id }) => mayUse(principal, id))
      .map(one => ({ ...one, agents: agentsOf(one.id) })),
  }
}
