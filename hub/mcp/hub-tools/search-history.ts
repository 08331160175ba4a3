import { z } from 'zod'
import { name } from '../../../schemas/names.ts'
import { foundSession, searchWords } from '../../../schemas/search.ts'
import { describeSessions } from '../../core/describe-sessions.ts'
import { readTimeframe } from '../../core/timeframe.ts'
import { searchHistory } from '../../store/search.ts'
import { meantAgent } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

export const searchAll = defineHubTool({
  name: 'hub_search_history',
  title: "Search an agent's history",
  description:
    "Finds what happened in an agent's threads by its words: messages, tool calls and tool results, however old. Gives the sessions that hold them, the best first, with their summaries.",
  input: searchWords.extend({ agent: name.optional().describe('default: homelab, else the first') }),
  output: z.object({ sessions: z.array(foundSession) }),
  effect: 'reads',
  right: 'records',
  async run({ agent: named, query, limit, ...words }, { deps, principal }) {
    const frame = readTimeframe(words, deps.clock.now(), deps.timezone)
    const agent = await meantAgent({ deps, principal }, named)
    return { sessions: await searchHistory(deps.store.db, { ...frame, query, limit, agent: agent.name }) }
  },
  toText: ({ sessions }, { deps }) => describeSessions(sessions, deps.timezone),
})
