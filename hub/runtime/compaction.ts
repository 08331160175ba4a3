import type { StoredFact } from '../../schemas/inbox.ts'
import type { Model } from '../core/model.ts'
import { factsOf } from '../store/context.ts'
import { fencedWrite, type HistoryEntry, setForm } from '../store/history.ts'
import { endSession, newestSession, newestSummaries } from '../store/sessions.ts'
import type { SessionRow } from '../store/tables.ts'
import { moveWindow } from '../store/threads.ts'
import { unansweredOf } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import { isBatch } from './batch.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { toHead } from './head.ts'
import { tokensInForce } from './limits/cycle-tokens.ts'
import { meterModel, payApart } from './limits/metered-model.ts'
import { toPreamble } from './prompt.ts'
import { type AskForSummary, type Summary, summarize } from './summarize.ts'
import { wordsOfPeople } from './summary.ts'
import { tellNow } from './tell.ts'
import { tokensOf, tokensOfAll } from './tokens.ts'
import { describeContext } from './told-context.ts'
import {
  cutLength,
  decideCut,
  findBulky,
  lastBeginning,
  type Marks,
  toCut,
  toMarks,
  toStub,
} from './window.ts'

/** Summaries for which a cycle asks a model at most; what is still too long then is extracted. */
const MOST_COMPACTIONS = 2
/** The smallest part of the window that a compaction must remove; one that removes less is not made. */
const LEAST_PROGRESS = 0.2
/** Summaries with which the window begins after a long pause, besides the newest. */
const EARLIER_SUMMARIES = 5

/**
 * `overflow`: the provider refused the request as too long, whatever was counted. `budget`: tokens that a
 * limit leaves.
 */
export type RoomFor = 'step' | 'end' | 'overflow' | { budget: number }

/** Returns the tokens of the next request. */
export function countRequest(deps: RuntimeDeps, claim: Claim, model: Model): number {
  return deps.tokens.count(model.name, toPreamble(deps, claim), claim.window, claim.anchor)
}

/**
 * Compacts a window that is over its mark: first old bulky results become stubs, then its older part is
 * replaced by a summary. The removed part is kept in a session, which search finds. This cannot fail for want
 * of a model.
 */
export async function makeRoom(
  deps: RuntimeDeps,
  claim: Claim,
  when: RoomFor,
  signal: AbortSignal,
): Promise<void> {
  const model = deps.model(claim.agent.model)
  const marks = decideMarks(deps, claim, model, when)
  const isOver = () => countRequest(deps, claim, model) > marks.mark
  if (claim.isIdle) await startFromSummaries(deps, claim, signal)
  if (!isOver()) return
  await prune(deps, claim)
  if (!isOver()) return
  // No model is asked for a summary if a budget is short: what is left of it is for the answer.
  const asking = typeof when === 'object' ? {} : { signal }
  await compact(deps, claim, { reason: 'compaction', cut: cutFor(claim, marks.keep), ...asking })
  if (when !== 'end') await squeeze(deps, claim, model, marks)
}

function marksOf(deps: RuntimeDeps, claim: Claim, model: Model): Marks {
  return toMarks(model, tokensInForce(deps, claim.agent))
}

/** Returns the marks, and the tokens that the request must not exceed (`mark`): half if it was refused. */
function decideMarks(deps: RuntimeDeps, claim: Claim, model: Model, when: RoomFor): Marks & { mark: number } {
  const marks = marksOf(deps, claim, model)
  if (typeof when === 'object') {
    const hard = Math.min(marks.hard, when.budget)
    return { ...marks, keep: Math.min(marks.keep, hard / 4), mark: hard, hard }
  }
  if (when !== 'overflow') return { ...marks, mark: when === 'end' ? marks.soft : marks.hard }
  const half = countRequest(deps, claim, model) / 2
  const keep = Math.min(marks.keep, tokensOfAll(partsOf(claim).entries) / 4)
  return { ...marks, keep, mark: half, hard: Math.min(marks.hard, half) }
}

/** Tells whether the window is over the soft mark and can be made shorter. */
export function isCrowded(deps: RuntimeDeps, claim: Claim): boolean {
  const model = deps.model(claim.agent.model)
  const marks = marksOf(deps, claim, model)
  if (countRequest(deps, claim, model) <= marks.soft) return false
  const { entries } = partsOf(claim)
  return findBulky(entries).length > 0 || isWorthwhile(entries, cutFor(claim, marks.keep))
}

/** Returns the window's first message, if that stands for what came before, and the rest. */
function partsOf(claim: Claim): { head: HistoryEntry | undefined; entries: HistoryEntry[] } {
  const [first] = claim.window
  const head = first && first.seq < claim.start ? first : undefined
  return { head, entries: head ? claim.window.slice(1) : claim.window }
}

function cutFor(claim: Claim, keep: number): number {
  const { entries } = partsOf(claim)
  return Math.min(decideCut(entries, keep), lastBeginning(entries))
}

function isWorthwhile(entries: readonly HistoryEntry[], cut: number): boolean {
  const left = tokensOfAll(entries.slice(0, cut))
  return cut > 0 && left >= tokensOfAll(entries) * LEAST_PROGRESS
}

async function prune(deps: RuntimeDeps, claim: Claim): Promise<void> {
  const seqs = new Set(findBulky(partsOf(claim).entries))
  if (seqs.size === 0) return
  await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    await setForm(tx, claim.thread, [...seqs], 'stub')
  })
  claim.window = claim.window.map(entry =>
    seqs.has(entry.seq) ? { ...entry, content: toStub(entry.content) } : entry,
  )
  claim.anchor = undefined
  deps.toldTools.renew(claim.thread)
  deps.log.info('window_pruned', { thread: claim.thread, results: seqs.size })
}

/** Replaces what came before the batch by its summary and earlier ones, after a long pause. */
async function startFromSummaries(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  claim.isIdle = false
  const { entries } = partsOf(claim)
  const batch = entries.findLastIndex(({ content }) => isBatch(content))
  if (batch > 0) await compact(deps, claim, { reason: 'idle', cut: batch, signal })
}

interface Compaction {
  reason: SessionRow['reason']
  /** The index of the first entry that stays. */
  cut: number
  /** The signal of calls of the model; without it no model is asked. */
  signal?: AbortSignal
}

async function compact(deps: RuntimeDeps, claim: Claim, { reason, cut, signal }: Compaction): Promise<void> {
  const { entries } = partsOf(claim)
  if (reason === 'compaction' && signal && !isWorthwhile(entries, cut)) return
  if (cut === 0) return
  const left = entries.slice(0, cut)
  const rest = entries.slice(cut)
  const before = await newestSession(deps.store.db, claim.thread)
  const mayAsk = signal && claim.compactions < MOST_COMPACTIONS
  if (mayAsk) claim.compactions++
  const model = mayAsk ? summaryModel(deps, claim) : undefined
  const summary = await summarize(
    deps,
    {
      before: before?.head ? before.summary : undefined,
      entries: left,
      open: await openAsks(deps, claim, rest),
      longest: marksOf(deps, claim, deps.model(claim.agent.model)).limit,
    },
    model,
    signal ? createAsk(deps, claim, signal) : refuseToAsk,
  )
  signal?.throwIfAborted()
  const last = left.at(-1)?.seq ?? claim.start - 1
  const head = await deps.store.write(tx => record(deps, tx, claim, { reason, left, last, summary }))
  claim.start = last + 1
  claim.window = [{ seq: last, content: { role: 'user', items: [], tellsContext: true, ...head } }, ...rest]
  claim.anchor = undefined
  deps.toldTools.renew(claim.thread)
  deps.log.info('window_compacted', { thread: claim.thread, reason, entries: left.length, by: summary.by })
}

/** Returns what people asked, no agent message has answered, and the rest of the window does not show. */
async function openAsks(
  deps: RuntimeDeps,
  { thread }: Claim,
  rest: readonly HistoryEntry[],
): Promise<string[]> {
  const shown = new Set(wordsOfPeople(rest))
  const open = await unansweredOf(deps.store.db, thread)
  return open.map(({ text }) => text).filter(text => !shown.has(text))
}

function summaryModel(deps: RuntimeDeps, claim: Claim): Model | undefined {
  const model = deps.compactionModel() ?? deps.model(claim.agent.model)
  return model.canSummarize === false ? undefined : model
}

function createAsk(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): AskForSummary {
  return async (model, system, text, maxOutput) => {
    const reply = await meterModel(deps, claim, model, 'unseen').complete(
      {
        system,
        messages: [{ role: 'user', text, items: [] }],
        tools: [],
        maxOutput,
        timezone: deps.timezone,
        now: deps.clock.now(),
      },
      { signal, onText: () => undefined },
    )
    await payApart(deps, claim)
    return reply.text
  }
}

const refuseToAsk: AskForSummary = () => Promise.reject(new Error('No model is asked here'))

interface Recorded {
  reason: SessionRow['reason']
  left: readonly HistoryEntry[]
  last: number
  summary: Summary
}

/** Writes the session and the window's new start in one commit. Returns what the window begins with. */
async function record(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  { reason, left, last, summary }: Recorded,
): Promise<{ text: string; facts: StoredFact[] }> {
  const now = deps.clock.now()
  await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
  const earlier = reason === 'idle' ? await newestSummaries(tx, claim.thread, EARLIER_SUMMARIES) : []
  const facts = await factsOf(tx, claim.agent.name, claim.thread)
  const context = describeContext({ kind: 'whole', facts })
  const head = toHead({ reason, summary: summary.text, earlier, context })
  await endSession(tx, {
    thread_id: claim.thread,
    first_seq: claim.start,
    last_seq: last,
    ended_at: now,
    tokens: tokensOfAll(left),
    reason,
    summary: summary.text,
    summary_by: summary.by,
    head,
    facts_json: JSON.stringify(facts),
  })
  await moveWindow(tx, claim.thread, last + 1)
  return { text: head, facts }
}

const TOO_LONG =
  'What was written is too long for the model: it sees the beginning and the end. Send it in parts, or set a larger context for the model.'

/** Shrinks the window until the request fits: extracts keep less and less, at last entries are cut. */
async function squeeze(deps: RuntimeDeps, claim: Claim, model: Model, marks: Marks): Promise<void> {
  const isOver = () => countRequest(deps, claim, model) > marks.hard
  for (let keep = marks.keep / 2; isOver() && cutFor(claim, 0) > 0; keep /= 2) {
    const cut = cutFor(claim, keep)
    if (cut > 0) await compact(deps, claim, { reason: 'compaction', cut })
  }
  for (const entry of largestFirst(partsOf(claim).entries)) {
    if (!isOver()) return
    const content = toCut(entry.content, cutLength(marks))
    if (content === entry.content) return
    await deps.store.write(async tx => {
      const now = deps.clock.now()
      await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
      await setForm(tx, claim.thread, [entry.seq], 'cut')
    })
    const isUnseen = entry.content.role === 'user' && entry.seq === claim.window.at(-1)?.seq
    claim.window = claim.window.map(each => (each.seq === entry.seq ? { ...each, content } : each))
    claim.anchor = undefined
    if (isUnseen)
      await tellNow(deps, claim, { kind: 'notice', author: 'hub', text: TOO_LONG, data: { cut: true } })
  }
}

function largestFirst(entries: readonly HistoryEntry[]): HistoryEntry[] {
  return [...entries].sort((a, b) => tokensOf(b.content) - tokensOf(a.content))
}
