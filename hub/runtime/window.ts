import { type HistoryContent, storedFact } from '../../schemas/inbox.ts'
import type { ModelMessage } from '../core/model.ts'
import { isBlank, plural, withoutMarkers } from '../core/text.ts'
import { type HistoryEntry, readHistory } from '../store/history.ts'
import { newestSession } from '../store/sessions.ts'
import type { ThreadRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { tokensOf } from './tokens.ts'

/** Tokens of room for what an estimate misses. */
const RESERVE = 1024
/** The part of the limit at which a cycle's end makes room. */
const SOFT = 0.7
/** Most tokens that are left for a step within a cycle. */
const LARGEST_STEP = 16_384
/** Calls of the model that a cycle's budget has room for, so that compaction comes before it refuses one. */
const CALLS_OF_BUDGET = 3
/** Most that compaction keeps: tokens, and the part of the limit. */
const MOST_KEPT = 20_000
const KEEP = 0.25

/** Tokens that a request may hold besides its reply, and the thresholds at which its oldest part leaves. */
export interface Thresholds {
  limit: number
  /** The threshold that is checked when a cycle ends. */
  soft: number
  /** The threshold that is checked before every step. */
  hard: number
  /** Tokens of the newest entries that stay as they are. */
  keep: number
}

/** Returns the thresholds for the smaller of the model's context and the `tokens` that a cycle may use. */
export function toThresholds(
  { context, maxOutput }: { context: number; maxOutput: number },
  tokens = Number.POSITIVE_INFINITY,
): Thresholds {
  const limit = Math.max(0, Math.min(context - maxOutput - RESERVE, Math.floor(tokens / CALLS_OF_BUDGET)))
  return {
    limit,
    soft: limit * SOFT,
    hard: limit - Math.min(LARGEST_STEP, limit / 8),
    keep: Math.min(MOST_KEPT, limit * KEEP),
  }
}

/**
 * Decides where a window is cut so that at most `keep` tokens of its end stay: an index at which a user or
 * assistant message begins, so that calls keep their results; its length if nothing stays.
 */
export function decideCut(entries: readonly HistoryEntry[], keep: number): number {
  let kept = 0
  let cut = entries.length
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]
    if (!entry) break
    kept += tokensOf(entry.content)
    if (kept > keep) break
    if (entry.content.role !== 'tool') cut = index
  }
  return cut
}

/** Returns the index of the newest user or assistant message. */
export function lastBeginning(entries: readonly HistoryEntry[]): number {
  return Math.max(
    0,
    entries.findLastIndex(entry => entry.content.role !== 'tool'),
  )
}

/** Number of newest steps whose results stay: the model works with them. */
const RECENT_STEPS = 3
const BULKY_TOKENS = 400

/** Returns the seqs of old bulky tool results: those outside the last three assistant turns. */
export function findBulky(entries: readonly HistoryEntry[]): number[] {
  const steps = entries.flatMap((entry, index) => (entry.content.role === 'assistant' ? [index] : []))
  const recent = steps.at(-RECENT_STEPS) ?? 0
  return entries
    .slice(0, recent)
    .filter(({ content }) => content.role === 'tool' && tokensOf(content) > BULKY_TOKENS)
    .map(entry => entry.seq)
}

const STUB_START = 200

/** Returns what the window shows in place of a content that left it. */
export function toStub(content: HistoryContent): HistoryContent {
  if (content.role === 'tool') {
    const { role, callId, name, isError, text } = content
    const start = text.slice(0, STUB_START).trimEnd()
    const stub = `(${plural(text.length, 'character')} that left the window; search_history finds them, or call ${name} again. It began:)\n${start}`
    return { role, callId, name, isError, text: stub }
  }
  if (content.role === 'assistant') return { ...content, text: '' }
  const [head = ''] = content.text.split('\n', 1)
  return {
    role: 'user',
    text: `${head}\n(This batch failed and lies in the dead letters. Nothing of it is to be answered now.)`,
    items: [],
  }
}

/** Returns the tokens to which an entry is cut that no window can hold whole. */
export function cutLength(thresholds: Thresholds): number {
  return thresholds.limit / 16
}

/** Cuts a content so large that no window holds it, to about `tokens`. */
export function toCut(content: HistoryContent, tokens: number): HistoryContent {
  const length = Math.max(100, Math.floor(tokens * 3))
  if (content.text.length <= length) return content
  const half = Math.floor(length / 2)
  const text = `${content.text.slice(0, half)}\n(cut here: ${plural(content.text.length, 'character')} in all; search_history finds the rest. It ends with:)\n${content.text.slice(-half)}`
  return content.role === 'tool' ? toPlain({ ...content, text }) : { ...content, text }
}

function toPlain({ structured: _, ...content }: Extract<HistoryContent, { role: 'tool' }>): HistoryContent {
  return content
}

/** Tells whether the newest step asked for calls whose results are not in the history yet. */
export function hasOpenCalls(window: readonly HistoryEntry[]): boolean {
  const last = window.at(-1)?.content
  return last?.role === 'assistant' && last.calls.length > 0
}

/** Matches the beginning of a line that looks like a message of the hub. */
const HEADING = /^\[(?=(?:INBOX|MID-CYCLE UPDATE|UNANSWERED) - |ANSWER CHECKED\])/gm

/**
 * Returns the window as a model reads it. A call without a result gets one; an empty message is left out. No text
 * of others passes for the end of a message, and no result for a message of the hub.
 */
export function toMessages(entries: readonly HistoryEntry[]): ModelMessage[] {
  const answered = new Set(
    entries.flatMap(({ content }) => (content.role === 'tool' ? [content.callId] : [])),
  )
  return entries.flatMap(({ content }): ModelMessage[] => {
    if (content.role === 'user') return [withText(content, withoutMarkers(content.text))]
    if (content.role === 'tool')
      return [withText(content, withoutMarkers(content.text).replace(HEADING, '⟦'))]
    if (content.calls.length === 0 && isBlank(content.text)) return []
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

/** Returns a content with this text: the same object where it has it, so that its tokens are counted once. */
function withText<Content extends { text: string }>(content: Content, text: string): Content {
  return content.text === text ? content : { ...content, text }
}

/** Returns an entry as the window shows it in its form; a cut one has about `length` tokens. */
export function toShortened({ seq, content, form }: HistoryEntry, length: number): HistoryEntry {
  if (form === 'stub') return { seq, form, content: toStub(content) }
  return form === 'cut' ? { seq, form, content: toCut(content, length) } : { seq, content }
}

/** Reads a thread's window: the message for everything before it, and its entries, each in its form. */
export async function readWindow(
  deps: Pick<RuntimeDeps, 'model'>,
  tx: Tx,
  row: Pick<ThreadRow, 'id' | 'window_start' | 'last_seq'>,
  { model, limits }: Pick<RuntimeAgent, 'model' | 'limits'>,
): Promise<HistoryEntry[]> {
  const session = row.window_start > 1 ? await newestSession(tx, row.id) : undefined
  const rows = row.last_seq < row.window_start ? [] : await readHistory(tx, row.id, row.window_start)
  const length = cutLength(toThresholds(deps.model(model), limits.tokens))
  const entries = rows.flatMap(({ seq, content, form }): HistoryEntry[] => {
    if (form === 'hidden') return []
    return [form === 'whole' ? { seq, content } : toShortened({ seq, content, form }, length)]
  })
  if (!session?.head || session.last_seq !== row.window_start - 1) return entries
  const facts =
    session.facts_json === null ? undefined : storedFact.array().parse(JSON.parse(session.facts_json))
  const told = facts ? { tellsContext: true as const, facts } : {}
  return [
    { seq: session.last_seq, content: { role: 'user', text: session.head, items: [], ...told } },
    ...entries,
  ]
}
