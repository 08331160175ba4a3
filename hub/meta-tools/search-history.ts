import { searchWords } from '../../schemas/search.ts'
import { describeSessions } from '../core/describe-sessions.ts'
import { readTimeframe } from '../core/timeframe.ts'
import { searchHistory } from '../store/search.ts'
import { defineMetaTool, type MetaDeps, type MetaTool } from './meta-tool.ts'

export function searchHistoryTool(deps: MetaDeps): MetaTool {
  return defineMetaTool({
    name: 'search_history',
    title: 'Search what happened before',
    description:
      'Finds messages, tool calls and tool results of your threads by their words, however old: also what was summarised or shortened in what you see.',
    input: searchWords,
    readOnly: true,
    async run(tx, { query, limit, ...words }, context) {
      const frame = readTimeframe(words, context.now, deps.timezone)
      const { agent, cycle } = context
      const sessions = await searchHistory(tx, { ...frame, query, limit, agent, exceptCycle: cycle })
      return {
        text: describeSessions(sessions, deps.timezone),
        isError: false,
        structured: { sessions },
      }
    },
  })
}
