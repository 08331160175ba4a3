import type { HistoryContent } from '../../../schemas/inbox.ts'
import { plural } from '../../core/text.ts'
import { callsOfCycle, fingerprintOf } from '../../store/ledger.ts'
import type { ToolCallRow } from '../../store/tables.ts'
import type { ActiveCycle } from '../active-cycle.ts'
import { endCalls, toHistory } from '../calls.ts'
import { LimitReached } from './limit-reached.ts'

const WARN_AT = 3
const STOP_AT = 5

type Call = Pick<ToolCallRow, 'id' | 'step' | 'tool' | 'arguments' | 'status' | 'result_json'>

export type Excess =
  | { kind: 'fine' }
  /** These calls are beyond the limit, and their agent has to be told. */
  | { kind: 'refuse'; ids: string[] }
  /** The agent was told before, and calls again. */
  | { kind: 'stop' }

/** Decides about the calls of a cycle, given in their order; those of the newest step have not run yet. */
export function decideExcess(calls: readonly Call[], limit: number): Excess {
  const newest = calls.at(-1)?.step
  const beyond = calls.slice(limit)
  if (beyond.some(({ step }) => step !== newest)) return { kind: 'stop' }
  const ids = beyond
    .filter(call => call.result_json === null && call.status === 'planned')
    .map(({ id }) => id)
  return ids.length > 0 ? { kind: 'refuse', ids } : { kind: 'fine' }
}

/** Counts how often in a row each call gave the same result for the same arguments, by the call's id. */
export function countRepeats(calls: readonly Call[]): Map<string, number> {
  const last = new Map<string, { result: string; count: number }>()
  const counts = new Map<string, number>()
  for (const call of calls) {
    if (call.result_json === null || (call.status !== 'ok' && call.status !== 'error')) continue
    const key = keyOf(call)
    const before = last.get(key)
    const result = fingerprintOf(call.result_json)
    const count = before?.result === result ? before.count + 1 : 1
    last.set(key, { result, count })
    counts.set(call.id, count)
  }
  return counts
}

/** Returns a key that is equal for calls of the same tool with the same arguments. */
function keyOf({ tool, arguments: args }: Pick<Call, 'tool' | 'arguments'>): string {
  return `${tool} ${args}`
}

/** Tells whether `group` has as many calls equal to `next` as a loop; their results are not known yet. */
export function isOneTooMany(group: readonly ToolCallRow[], next: ToolCallRow): boolean {
  return group.filter(call => keyOf(call) === keyOf(next)).length >= STOP_AT
}

/**
 * Gives calls of the newest step that are beyond the limit a result that says so, before they run. Throws
 * LimitReached if the agent was told before.
 */
export async function checkExcess(cycle: ActiveCycle): Promise<void> {
  const limit = cycle.agent.limits.calls
  if (limit === undefined) return
  const calls = await callsOfCycle(cycle.db, cycle.id)
  const excess = decideExcess(calls, limit)
  if (excess.kind === 'stop') {
    throw new LimitReached(
      `I stopped after ${plural(limit, 'call')} of tools, the limit of one cycle. Raise limits.calls in agents/${cycle.agent.name}.md, or tell me to go on.`,
      { limit: 'limits.calls', value: limit, used: limit },
    )
  }
  if (excess.kind === 'fine') return
  const refused = calls.filter(({ id }) => excess.ids.includes(id))
  const outcome = (tool: string) => ({
    text: `${tool} was not run: this cycle may call tools ${plural(limit, 'time')}, and has. Answer with what you know; another call ends this cycle.`,
    isError: true,
  })
  await endCalls(
    cycle,
    refused.map(row => ({ row, status: 'skipped', outcome: outcome(row.tool) })),
  )
}

/** Throws LimitReached if a call gave the same result too often. Used before a step and between its calls. */
export async function checkRepeats(cycle: ActiveCycle): Promise<void> {
  if (cycle.steps < 1) return
  const calls = await callsOfCycle(cycle.db, cycle.id)
  if (calls.length < STOP_AT) return
  const counts = countRepeats(calls)
  const looping = calls.find(({ id }) => (counts.get(id) ?? 0) >= STOP_AT)
  if (!looping) return
  throw new LimitReached(
    `I stopped: the same call of ${looping.tool} gave the same result ${STOP_AT} times, so I was going round in circles. This limit is fixed; tell me to go on, or what to do instead.`,
    { limit: 'repeats', value: STOP_AT, used: counts.get(looping.id), tool: looping.tool },
  )
}

/** Tells whether some call of the newest step may become a loop before the step is over. */
export async function mayLoop(cycle: ActiveCycle, open: readonly ToolCallRow[]): Promise<boolean> {
  if (open.length < 2) return false
  const calls = await callsOfCycle(cycle.db, cycle.id)
  return open.some(call => isOneTooMany(calls, call))
}

/** Returns the newest step's results as the history holds them, with a warning if a call repeats. */
export async function toResults(cycle: ActiveCycle, rows: readonly ToolCallRow[]): Promise<HistoryContent[]> {
  if (cycle.steps === 1 && rows.length < WARN_AT) return rows.map(toHistory)
  const counts = countRepeats(await callsOfCycle(cycle.db, cycle.id))
  return rows.map(row => {
    const content = toHistory(row)
    const count = counts.get(row.id) ?? 0
    return count < WARN_AT ? content : { ...content, text: `${content.text}\n\n${describeRepeat(count)}` }
  })
}

function describeRepeat(count: number): string {
  return `[Note of the hub: this is the same result of the same call for the ${count === 3 ? '3rd' : `${count}th`} time in this cycle. Do something else, or use schedule_wake to look again later; at ${STOP_AT} the cycle is stopped.]`
}
