import { searchWords } from '../../schemas/search.ts'
import { describeSessions } from '../core/describe-sessions.ts'
import { readTimeframe } from '../core/timeframe.ts'
import { searchHistory as search } from '../store/search.ts'
import { defineMetaTool, done } from './meta-tool.ts'

export const searchHistory = defineMetaTool({
  name: 'search_history',
  title: 'Search what happened before',
  description:
    'Finds messages, tool calls and tool results of your threads by their words, however old: also what was summarised or shortened in what you see.',
  input: searchWords,
  readOnly: true,
  async run(tx, { query, limit, ...words }, { agent, cycle, now, timezone }) {
    const frame = readTimeframe(words, now, timezone)
    const sessions = await search(tx, { ...frame, query, limit, agent, exceptCycle: cycle })
    return done(describeSessions(sessions, timezone), { sessions }, true)
  },
})
