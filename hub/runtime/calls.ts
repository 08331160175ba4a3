import type { ChatMessage, ToolCallStatus } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { truncate } from '../core/text.ts'
import type { ToolOutcome } from '../core/tool-box.ts'
import { callsOfStep, finishCall, resultOf } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { tell } from './tell.ts'

const SUMMARY_LENGTH = 300

export const UNKNOWN: ToolOutcome = {
  text: 'Outcome unknown: this call was cut off while it ran. Verify what happened before you repeat it.',
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

const SKIPPED: ToolOutcome = {
  text: 'Not run: the cycle was stopped before this call began.',
  isError: true,
}

export type EndStatus = Exclude<ToolCallStatus, 'planned' | 'started'>

export interface EndedCall {
  row: ToolCallRow
  outcome: ToolOutcome
  status: EndStatus
}

/** Writes down a call's outcome, for the ledger and for people. Publish the message after the commit. */
export async function recordCall(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  ended: EndedCall,
): Promise<ChatMessage | undefined> {
  const { row, status, outcome } = ended
  await finishCall(tx, row.id, { status, result: outcome, now: deps.clock.now() })
  return tellCall(deps, tx, claim, ended)
}

/** Appends the message by which people see a call. */
export function tellCall(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  { data, conversation, ...ended }: EndedCall & { data?: Record<string, unknown>; conversation?: string },
): Promise<ChatMessage | undefined> {
  const told = toTelling(ended, data)
  return tell(deps, tx, claim, conversation === undefined ? told : { ...told, conversation })
}

/** Returns a call as the text and data of a conversation's message. */
export function toTelling({ row, outcome, status }: EndedCall, data: Record<string, unknown> = {}) {
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

/** Shows people what a call does now. */
export function showCall(
  deps: Pick<RuntimeDeps, 'signals'>,
  claim: Pick<Claim, 'target' | 'cycle'>,
  row: Pick<ToolCallRow, 'id' | 'tool'>,
  status: ToolCallStatus,
  summary?: string,
): void {
  if (claim.target === null) return
  const call = { id: row.id, tool: row.tool, status }
  deps.signals.emit('tool', {
    conversation: claim.target,
    cycle: claim.cycle,
    call: summary === undefined ? call : { ...call, summary: toSummary(summary) },
  })
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
 * that had not is skipped, and the results of the others stay. `contents` completes the pairs in the history.
 */
export async function cutCalls(deps: RuntimeDeps, tx: Tx, claim: Claim) {
  const cut: EndedCall[] = []
  const messages: (ChatMessage | undefined)[] = []
  for (const row of await callsOfStep(tx, claim.cycle, claim.steps)) {
    if (row.result_json !== null) continue
    const began = row.status === 'started'
    const ended = {
      row,
      outcome: began ? UNKNOWN : SKIPPED,
      status: began ? ('unknown' as const) : ('skipped' as const),
    }
    messages.push(await recordCall(deps, tx, claim, ended))
    cut.push(ended)
  }
  const rows = await callsOfStep(tx, claim.cycle, claim.steps)
  return { contents: rows.map(toHistory), cut, messages }
}

function toSummary(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1)}…`
}
