import type { HistoryContent } from '../../schemas/inbox.ts'
import type { ModelMessage } from '../core/model.ts'
import type { HistoryEntry } from '../store/history.ts'

/** Room for what an estimate misses. */
const RESERVE = 1024
/** The part of the limit at which older history leaves the window, and the part that stays. */
const FULL = 0.7
const KEEP = 0.25

/** An estimate that is rather too high: the larger of a fourth of the bytes and the words and digits. */
export function estimateTokens(text: string): number {
  const words = text.match(/[\p{L}]+|\d|[^\s\p{L}\d]/gu)?.length ?? 0
  return Math.ceil(Math.max(Buffer.byteLength(text) / 4, words))
}

function tokensOf(content: HistoryContent): number {
  const calls =
    content.role === 'assistant' ? content.calls.map(call => call.name + call.arguments).join('') : ''
  return estimateTokens(content.text + calls) + 4
}

/**
 * Where the window has to start so that it fits a model: at its present start while it is small enough, else at the
 * oldest user message within what may stay. Pairs of calls and results are never parted, since a batch begins there.
 */
export function decideWindowStart(
  entries: readonly HistoryEntry[],
  model: { context: number; maxOutput: number },
  fixedTokens: number,
): number | undefined {
  const limit = model.context - model.maxOutput - RESERVE - fixedTokens
  const sizes = entries.map(entry => tokensOf(entry.content))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= limit * FULL) return undefined
  let kept = 0
  let start: number | undefined
  for (let index = entries.length - 1; index >= 0; index--) {
    kept += sizes[index] ?? 0
    const entry = entries[index]
    if (kept > limit * KEEP && start !== undefined) break
    if (entry?.content.role === 'user' && entry.content.text.startsWith('[INBOX')) start = entry.seq
  }
  return start === entries[0]?.seq ? undefined : start
}

/** The window as a model reads it. Any call without a result gets one that says so. */
export function toMessages(entries: readonly HistoryEntry[]): ModelMessage[] {
  const answered = new Set(
    entries.flatMap(({ content }) => (content.role === 'tool' ? [content.callId] : [])),
  )
  return entries.flatMap(({ content }): ModelMessage[] => {
    if (content.role !== 'assistant') return [content]
    const missing = content.calls.filter(call => !answered.has(call.id))
    return [
      content,
      ...missing.map(call => ({
        role: 'tool' as const,
        callId: call.id,
        name: call.name,
        text: 'No result: the call did not run.',
        isError: true,
      })),
    ]
  })
}
