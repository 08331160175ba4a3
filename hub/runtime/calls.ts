import type { ToolCallStatus } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import type { TraceContext } from '../../schemas/trace.ts'
import type { Signals } from '../core/signals.ts'
import type { Telemetry } from '../core/telemetry.ts'
import { truncate } from '../core/text.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { callsOfStep, finishCall, resultOf } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'

const SUMMARY_LENGTH = 300

export const UNKNOWN: ToolOutcome = {
  text: 'Outcome unknown: this call was cut off while it ran. Verify what happened before you repeat it.',
  isError: true,
}
const SKIPPED: ToolOutcome = {
  text: 'Not run: the cycle was stopped before this call began.',
  isError: true,
}

/** Returns the outcome that a call has until a person has decided its approval. */
export function toWaiting(approval: string): ToolOutcome {
  return { text: `waiting: approval ${approval}`, isError: false }
}

/** Returns the ledger's status for a call that answered. */
export function toStatus(outcome: ToolOutcome): 'ok' | 'error' {
  return outcome.isError ? 'error' : 'ok'
}

export interface EndedCall {
  row: ToolCallRow
  outcome: ToolOutcome
  status: Exclude<ToolCallStatus, 'planned' | 'started'>
}

/** Records the outcome of a cycle's call, for the ledger and for people. */
export async function recordCall(write: CycleWrite, cycle: ActiveCycle, ended: EndedCall): Promise<void> {
  const { row, status, outcome } = ended
  const { foreign, ...result } = outcome
  await finishCall(write.tx, row.id, { status, result, now: write.now })
  if (foreign) await cycle.noteForeign(write)
  write.afterCommit(() => showCall(cycle.signals, toPlace(cycle), row, status, outcome.text))
  await cycle.message(write, toCallMessage(ended))
}

/** Records the outcomes of a cycle's calls in a commit of their own. */
export function endCalls(cycle: ActiveCycle, calls: readonly EndedCall[]): Promise<void> {
  return cycle.commit(async write => {
    for (const call of calls) await recordCall(write, cycle, call)
  })
}

/** Returns a call as the text and data of a conversation's message. */
export function toCallMessage({ row, outcome, status }: EndedCall, data: Record<string, unknown> = {}) {
  return {
    kind: 'tool' as const,
    author: row.tool,
    text: toSummary(outcome.text),
    data: {
      call: row.id,
      tool: row.tool,
      status,
      cycle: row.cycle_id,
      arguments: truncate(row.arguments, SUMMARY_LENGTH),
      ...data,
    },
  }
}

/** Begins to measure a call of an agent. */
export function beginCall(
  telemetry: Telemetry,
  { id, tool, arguments: given, cycle_id: cycle }: ToolCallRow,
  trace: TraceContext | undefined,
) {
  return telemetry.begin('tool', { caller: 'agent', tool, arguments: given, call: id, cycle }, trace)
}

/** Runs a call, and reports it with its outcome. */
export async function measureCall(
  telemetry: Telemetry,
  row: ToolCallRow,
  trace: TraceContext | undefined,
  run: (trace: TraceContext | undefined) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const span = beginCall(telemetry, row, trace)
  try {
    const outcome = await run(span.trace)
    span.end(toStatus(outcome), { result: outcome.text })
    return outcome
  } catch (error) {
    span.end('unknown', {})
    throw error
  }
}

/** The conversation in which people see a call, and its cycle. */
interface Place {
  conversation: string | null
  cycle: string
}

export function toPlace({ target, id }: Pick<ActiveCycle, 'target' | 'id'>): Place {
  return { conversation: target, cycle: id }
}

/** Shows people what a call does now. */
export function showCall(
  signals: Signals,
  { conversation, cycle }: Place,
  { id, tool }: Pick<ToolCallRow, 'id' | 'tool'>,
  status: ToolCallStatus,
  summary?: string,
): void {
  if (conversation === null) return
  const text = summary === undefined ? {} : { summary: toSummary(summary) }
  signals.emit('tool', { conversation, cycle, call: { id, tool, status, ...text } })
}

/** Returns a call's result as the history holds it. */
export function toHistory(row: ToolCallRow): HistoryContent {
  const outcome: ToolOutcome = row.approval_id ? toWaiting(row.approval_id) : resultOf(row)
  const { text, isError, structured, images } = outcome
  return {
    role: 'tool',
    callId: row.call_id,
    name: row.tool,
    text,
    isError,
    ...(structured === undefined ? {} : { structured }),
    ...(images === undefined ? {} : { images }),
  }
}

/**
 * Ends the calls of the newest step of a cycle that stops during them: a call that had begun is unknown, one
 * that had not is skipped, and the results of the others stay. Returns what completes the pairs in the history.
 */
export async function cutCalls(write: CycleWrite, cycle: ActiveCycle): Promise<HistoryContent[]> {
  for (const row of await callsOfStep(write.tx, cycle.id, cycle.steps)) {
    if (row.result_json !== null) continue
    const ended =
      row.status === 'started'
        ? { row, outcome: UNKNOWN, status: 'unknown' as const }
        : { row, outcome: SKIPPED, status: 'skipped' as const }
    await recordCall(write, cycle, ended)
  }
  return (await callsOfStep(write.tx, cycle.id, cycle.steps)).map(toHistory)
}

function toSummary(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1)}…`
}
