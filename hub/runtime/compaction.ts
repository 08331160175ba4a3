import type { StoredFact } from '../../schemas/inbox.ts'
import { HUB } from '../../schemas/tokens.ts'
import type { Model } from '../core/model.ts'
import { factsOf } from '../store/context.ts'
import { type HistoryEntry, setForm } from '../store/history.ts'
import { endSession, newestSession, newestSummaries } from '../store/sessions.ts'
import type { SessionRow } from '../store/tables.ts'
import { moveWindow } from '../store/threads.ts'
import { unansweredOf } from '../store/unanswered.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { isBatch } from './batch.ts'
import { describeContext } from './context-update.ts'
import type { RuntimeDeps } from './deps.ts'
import { chargeNow, completeMetered } from './limits/account.ts'
import { tokensInForce } from './limits/cycle-tokens.ts'
import { type AskForSummary, type Summary, summarize } from './summarize.ts'
import { wordsOfPeople } from './summary.ts'
import { tokensOf, tokensOfAll } from './tokens.ts'
import {
  cutLength,
  decideCut,
  findBulky,
  lastBeginning,
  type Thresholds,
  toCut,
  toShortened,
  toThresholds,
} from './window.ts'

/** Summaries for which a cycle asks a model at most; what is still too long then is extracted. */
const MOST_COMPACTIONS = 2
/** The smallest part of the window that a compaction must remove; one that removes less is not made. */
const LEAST_PROGRESS = 0.2
/** Summaries with which the window begins after a long pause, besides the newest, and characters of each. */
const EARLIER_SUMMARIES = 5
const LONGEST_EARLIER = 2_000

export type CompactDeps = Parameters<typeof completeMetered>[0] & Pick<RuntimeDeps, 'compactionModel'>

/**
 * `overflow`: the provider refused the request as too long, whatever was counted. `budget`: tokens that a
 * limit leaves.
 */
export type CompactFor = 'step' | 'end' | 'overflow' | { budget: number }

/**
 * Compacts a window that is over its threshold: first old bulky results become stubs, then its older part is
 * replaced by a summary. The removed part is kept in a session, which search finds. This cannot fail for want
 * of a model.
 */
export async function compact(
  deps: CompactDeps,
  cycle: ActiveCycle,
  when: CompactFor,
  signal: AbortSignal,
): Promise<void> {
  const model = cycle.model()
  const thresholds = decideThresholds(deps, cycle, model, when)
  const isOver = () => cycle.countRequest(model) > thresholds.most
  if (cycle.isIdle) await startFromSummaries(deps, cycle, signal)
  if (!isOver()) return
  await prune(cycle)
  if (!isOver()) return
  // No model is asked for a summary if a budget is short: what is left of it is for the answer.
  const asking = typeof when === 'object' ? {} : { signal }
  const cut = cutFor(cycle, thresholds.keep)
  if (!asking.signal || isWorthwhile(entriesOf(cycle), cut))
    await replaceOldest(deps, cycle, { reason: 'compaction', cut, ...asking })
  if (when !== 'end') await shrinkUntilFits(deps, cycle, model, thresholds)
}

/** Returns the thresholds, and the tokens that the request must not exceed: half if it was refused. */
function decideThresholds(
  deps: CompactDeps,
  cycle: ActiveCycle,
  model: Model,
  when: CompactFor,
): Thresholds & { most: number } {
  const thresholds = toThresholds(model, tokensInForce(deps, cycle.agent))
  if (typeof when === 'object') {
    const hard = Math.min(thresholds.hard, when.budget)
    return { ...thresholds, keep: Math.min(thresholds.keep, hard / 4), most: hard, hard }
  }
  if (when !== 'overflow') return { ...thresholds, most: when === 'end' ? thresholds.soft : thresholds.hard }
  const half = cycle.countRequest(model) / 2
  const keep = Math.min(thresholds.keep, tokensOfAll(entriesOf(cycle)) / 4)
  return { ...thresholds, keep, most: half, hard: Math.min(thresholds.hard, half) }
}

/** Tells whether the window is over the threshold at a cycle's end and can be made shorter. */
export function mayCompactAtEnd(deps: CompactDeps, cycle: ActiveCycle): boolean {
  const model = cycle.model()
  const { soft, keep } = toThresholds(model, tokensInForce(deps, cycle.agent))
  if (cycle.countRequest(model) <= soft) return false
  const entries = entriesOf(cycle)
  return findBulky(entries).length > 0 || isWorthwhile(entries, cutFor(cycle, keep))
}

/** Returns the window without its first message, if that stands for what came before. */
function entriesOf({ window, windowStart }: ActiveCycle): HistoryEntry[] {
  const [first] = window
  return first && first.seq < windowStart ? window.slice(1) : window
}

function cutFor(cycle: ActiveCycle, keep: number): number {
  const entries = entriesOf(cycle)
  return Math.min(decideCut(entries, keep), lastBeginning(entries))
}

function isWorthwhile(entries: readonly HistoryEntry[], cut: number): boolean {
  const left = tokensOfAll(entries.slice(0, cut))
  return cut > 0 && left >= tokensOfAll(entries) * LEAST_PROGRESS
}

async function prune(cycle: ActiveCycle): Promise<void> {
  const seqs = new Set(findBulky(entriesOf(cycle)))
  if (seqs.size === 0) return
  await cycle.commit(({ tx }) => setForm(tx, cycle.thread, [...seqs], 'stub'))
  cycle.replaceWindow(
    cycle.window.map(entry => (seqs.has(entry.seq) ? toShortened({ ...entry, form: 'stub' }, 0) : entry)),
  )
  cycle.log.info('window_pruned', { thread: cycle.thread, results: seqs.size })
}

/** Replaces what came before the batch by its summary and earlier ones, after a long pause. */
async function startFromSummaries(deps: CompactDeps, cycle: ActiveCycle, signal: AbortSignal): Promise<void> {
  cycle.isIdle = false
  const batch = entriesOf(cycle).findLastIndex(({ content }) => isBatch(content))
  await replaceOldest(deps, cycle, { reason: 'idle', cut: batch, signal })
}

interface Replacement {
  reason: SessionRow['reason']
  /** The index of the first entry that stays; nothing is replaced if that is the first one. */
  cut: number
  /** The signal of calls of the model; without it no model is asked. */
  signal?: AbortSignal
}

/** Replaces the window's oldest entries by a message with their summary. */
async function replaceOldest(
  deps: CompactDeps,
  cycle: ActiveCycle,
  { reason, cut, signal }: Replacement,
): Promise<void> {
  if (cut <= 0) return
  const entries = entriesOf(cycle)
  const left = entries.slice(0, cut)
  const rest = entries.slice(cut)
  const before = await newestSession(cycle.db, cycle.thread)
  const mayAsk = signal && cycle.compactions < MOST_COMPACTIONS
  if (mayAsk) cycle.compactions++
  const own = cycle.model()
  const model = deps.compactionModel() ?? own
  const summary = await summarize(
    deps,
    {
      before: before?.head ? before.summary : undefined,
      entries: left,
      open: await openRequests(cycle, rest),
      longest: toThresholds(own, tokensInForce(deps, cycle.agent)).limit,
    },
    mayAsk && model.canSummarize !== false
      ? { model, ask: createAsk(deps, cycle, model, signal) }
      : undefined,
  )
  signal?.throwIfAborted()
  const last = left.at(-1)?.seq ?? cycle.windowStart - 1
  const head = await cycle.commit(write => record(write, cycle, { reason, left, last, summary }))
  const message = { role: 'user' as const, items: [], tellsContext: true as const, ...head }
  cycle.replaceWindow([{ seq: last, content: message }, ...rest], last + 1)
  cycle.log.info('window_compacted', { thread: cycle.thread, reason, entries: left.length, by: summary.by })
}

/** Returns what people asked, no agent message has answered, and the rest of the window does not show. */
async function openRequests(cycle: ActiveCycle, rest: readonly HistoryEntry[]): Promise<string[]> {
  const shown = new Set(wordsOfPeople(rest))
  const open = await unansweredOf(cycle.db, cycle.thread)
  return open.map(({ text }) => text).filter(text => !shown.has(text))
}

function createAsk(deps: CompactDeps, cycle: ActiveCycle, model: Model, signal: AbortSignal): AskForSummary {
  return async (system, text, maxOutput) => {
    const request = {
      system,
      messages: [{ role: 'user' as const, text, items: [] }],
      tools: [],
      maxOutput,
      timezone: deps.timezone,
      now: cycle.now(),
    }
    const reply = await completeMetered(deps, cycle, { model, request, signal })
    await chargeNow(deps, cycle)
    return reply.text
  }
}

interface Recorded {
  reason: SessionRow['reason']
  left: readonly HistoryEntry[]
  last: number
  summary: Summary
}

/** Writes the session and the window's new start. Returns what the window begins with. */
async function record(
  { tx, now }: CycleWrite,
  { thread, agent, windowStart }: ActiveCycle,
  { reason, left, last, summary }: Recorded,
): Promise<{ text: string; facts: StoredFact[] }> {
  const earlier = reason === 'idle' ? await newestSummaries(tx, thread, EARLIER_SUMMARIES) : []
  const facts = await factsOf(tx, agent.name, thread)
  const why =
    reason === 'idle' ? 'You slept for long, or a new topic begins' : 'Your older history left your view'
  const head = [
    `[SUMMARY] ${why}; this stands for it. Everything is still there: search_history finds it.`,
    ...earlier.map((text, index) => `Earlier summary ${index + 1}:\n${text.slice(0, LONGEST_EARLIER)}`),
    summary.text,
    describeContext({ kind: 'whole', facts }),
  ].join('\n\n')
  await endSession(tx, {
    thread_id: thread,
    first_seq: windowStart,
    last_seq: last,
    ended_at: now,
    tokens: tokensOfAll(left),
    reason,
    summary: summary.text,
    summary_by: summary.by,
    head,
    facts_json: JSON.stringify(facts),
  })
  await moveWindow(tx, thread, last + 1)
  return { text: head, facts }
}

const TOO_LONG =
  'What was written is too long for the model: it sees the beginning and the end. Send it in parts, or set a larger context for the model.'

/** Shrinks the window until the request fits: extracts keep less and less, at last entries are cut. */
async function shrinkUntilFits(
  deps: CompactDeps,
  cycle: ActiveCycle,
  model: Model,
  thresholds: Thresholds,
): Promise<void> {
  const isOver = () => cycle.countRequest(model) > thresholds.hard
  for (let keep = thresholds.keep / 2; isOver() && cutFor(cycle, 0) > 0; keep /= 2)
    await replaceOldest(deps, cycle, { reason: 'compaction', cut: cutFor(cycle, keep) })
  const largestFirst = entriesOf(cycle).toSorted((a, b) => tokensOf(b.content) - tokensOf(a.content))
  for (const entry of largestFirst) {
    if (!isOver()) return
    const content = toCut(entry.content, cutLength(thresholds))
    if (content === entry.content) return
    const isUnseen = entry.content.role === 'user' && entry.seq === cycle.window.at(-1)?.seq
    await cycle.commit(async write => {
      await setForm(write.tx, cycle.thread, [entry.seq], 'cut')
      if (isUnseen)
        await cycle.message(write, { kind: 'notice', author: HUB, text: TOO_LONG, data: { cut: true } })
    })
    cycle.replaceWindow(
      cycle.window.map(each => (each.seq === entry.seq ? { ...each, content, form: 'cut' } : each)),
    )
  }
}
