import type { FoundSession } from '../../schemas/search.ts'
import { toLocal } from './clock.ts'
import { plural, truncate } from './text.ts'

const LONGEST_SUMMARY = 1_500

const HOW_IT_ENDED = {
  compaction: 'then compacted',
  idle: 'then idle, or a new topic',
  reset: 'then reset',
  ended: 'then ended',
  open: 'still in the window',
} as const

export function describeSessions(found: readonly FoundSession[], timezone: string): string {
  if (found.length === 0) return 'Nothing was found. Try fewer or other words, or a longer time.'
  return found.map(one => describeSession(one, timezone)).join('\n\n')
}

function describeSession({ session, snippets }: FoundSession, timezone: string): string {
  const head = `Session ${session.number} of ${session.thread}, ${toLocal(session.startedAt, timezone)} to ${toLocal(session.endedAt, timezone)}, ${plural(session.messages, 'message')}, ${HOW_IT_ENDED[session.reason]}`
  const lines = snippets.map(({ at, role, text }) => `- ${toLocal(at, timezone)} ${role}: ${text}`)
  const summary = session.summary ? [`Summary: ${truncate(session.summary, LONGEST_SUMMARY)}`] : []
  return [head, ...lines, ...summary].join('\n')
}
