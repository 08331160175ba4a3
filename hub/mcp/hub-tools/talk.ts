import type { ChatMessage, NewUserMessage } from '../../../schemas/chat.ts'
import { checkUse, conversationOf, type Principal, powerOf } from '../../core/principal.ts'
import { waitForAnswer } from './chat.ts'
import { type HubToolDeps, meantAgent, seenAgents } from './deps.ts'

/** Creates what `hub_chat` does, for a door whose clients do not speak MCP. */
export function createTalk(deps: HubToolDeps) {
  return {
    /** Returns the names of the agents that a principal may talk with. */
    async agents(principal: Principal): Promise<string[]> {
      const seen = await seenAgents(deps, principal)
      return seen.flatMap(({ name, status }) => (status === 'retired' ? [] : name))
    },
    /** Posts a message in the program's conversation for one of its chats. Throws as `hub_chat` does. */
    async post(
      principal: Principal,
      to: { agent: string; chat?: string | undefined },
      said: Pick<NewUserMessage, 'text' | 'images' | 'clientId' | 'schema'>,
    ): Promise<ChatMessage> {
      const agent = await meantAgent({ deps, principal }, to.agent)
      const conversation = conversationOf(agent.name, principal, to.chat)
      checkUse(deps.mayUse, principal, conversation)
      const { name: author } = principal
      return deps.postMessage({ ...said, conversation, author, power: powerOf(principal), door: '/v1' })
    },
    /** Resolves with the outcome; with `pending` after `wait` milliseconds, or when the signal aborts. */
    waitForAnswer: (message: ChatMessage, wait: number, signal: AbortSignal) =>
      waitForAnswer({ deps, signal, progress: () => undefined }, message, wait),
  }
}
