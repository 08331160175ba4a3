import type { HistoryContent } from '../../schemas/inbox.ts'
import type { ModelMessage, ModelTool } from '../core/model.ts'
import type { HistoryEntry } from '../store/history.ts'
import { isBatch } from './batch.ts'

/** Room for what an estimate misses. */
const RESERVE = 1024
/** The part of the limit at which older history leaves the window before a cycle, and the part that stays. */
const SOFT = 0.7
const KEEP = 0.25
/** What is left for a step within a cycle. */
const LARGEST_STEP = 16_384

/** An estimate that is rather too high: the larger of a fourth of the bytes and the words and digits. */
export function estimateTokens(text: string): number {
  return Math.ceil(Math.max(Buffer.byteLength(text) / 4, countWords(text)))
}

/** Runs of letters, single digits and single signs; everything beyond ASCII counts as a letter. */
function countWords(text: string): number {
  let words = 0
  let inWord = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 127
    if (isLetter ? !inWord : code > 32) words++
    inWord = isLetter
  }
  return words
}

const counted = new WeakMap<HistoryContent, number>()

/** The tokens of one entry of a window, counted once. */
export function tokensOf(content: HistoryContent): number {
  const known = counted.get(content)
  if (known !== undefined) return known
  const tokens = countTokens(content)
  counted.set(content, tokens)
  return tokens
}

function countTokens(content: HistoryContent): number {
  if (content.role !== 'assistant') return estimateTokens(content.text) + 4
  const calls = content.calls.map(call => call.name + call.arguments).join('')
  return estimateTokens(content.text + calls + (content.thinking?.text ?? '')) + 4
}

/** What a window may hold beside prompt, tools and reply, tokens; and the marks at which its oldest part leaves. */
export interface Room {
  limit: number
  /** Looked at when a cycle begins. */
  soft: number
  /** Looked at before every step. */
  hard: number
}

const preambles = new WeakMap<readonly ModelTool[], { system: string; tokens: number }>()

/** Counted once for each list of tools: the list is another when it changes. */
function tokensOfPreamble({ system, tools }: { system: string; tools: readonly ModelTool[] }): number {
  const known = preambles.get(tools)
  if (known?.system === system) return known.tokens
  const tokens = estimateTokens(system) + estimateTokens(JSON.stringify(tools))
  preambles.set(tools, { system, tokens })
  return tokens
}

export function toRoom(
  model: { context: number; maxOutput: number },
  preamble: { system: string; tools: readonly ModelTool[] },
): Room {
  const fixed = tokensOfPreamble(preamble)
  const limit = Math.max(0, model.context - model.maxOutput - RESERVE - fixed)
  return { limit, soft: limit * SOFT, hard: limit - Math.min(LARGEST_STEP, model.context / 8) }
}

/**
 * Where the window has to start: undefined for where it does, while it is below its mark; else at the oldest batch
 * within what may stay. Pairs of calls and results are never parted, since a batch begins there. Before a cycle
 * nothing has to stay (then it is the seq of what comes next), within one its own batch does.
 */
export function decideWindowStart(
  entries: readonly HistoryEntry[],
  room: Room,
  when: 'begin' | 'step',
): number | undefined {
  const sizes = entries.map(entry => tokensOf(entry.content))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= (when === 'begin' ? room.soft : room.hard)) return undefined
  let kept = 0
  let start: number | undefined
  for (const [index, entry] of [...entries.entries()].reverse()) {
    kept += sizes[index] ?? 0
    if (start !== undefined && kept > room.limit * KEEP) break
    if (when === 'begin' && kept > room.soft) break
    if (isBatch(entry.content)) start = entry.seq
  }
  if (when === 'begin') start ??= (entries.at(-1)?.seq ?? 0) + 1
  return start === entries[0]?.seq ? undefined : start
}

/** Whether the newest step asked for calls whose results are not in the history yet. */
export function hasOpenCalls(window: readonly HistoryEntry[]): boolean {
  const last = window.at(-1)?.content
  return last?.role === 'assistant' && last.calls.length > 0
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
        text: 'No result was recorded for this call.',
        isError: true,
      })),
    ]
  })
}
