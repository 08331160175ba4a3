import type { AgentTool } from '../core/tool-box.ts'
import { parseArguments } from '../store/arguments.ts'
import { startCall, unstartCalls } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { ActiveCycle } from './active-cycle.ts'
import { callServer, type ServerCallDeps } from './call-server.ts'
import {
  beginCall,
  type EndedCall,
  endCalls,
  measureCall,
  recordCall,
  showCall,
  toPlace,
  toStatus,
  UNKNOWN,
} from './calls.ts'
import type { RuntimeDeps } from './deps.ts'
import { checkRepeats, isOneTooMany, mayLoop } from './limits/loops.ts'
import { decideCall, RUNS, requestApproval } from './request-approval.ts'
import { zoneOf } from './take-batch.ts'

interface CallOf<Kind extends AgentTool<Tx>['kind']> {
  kind: Kind
  row: ToolCallRow
  tool: Extract<AgentTool<Tx>, { kind: Kind }>
  args: Record<string, unknown>
}

/** A call to run, or one whose result is clear before anything runs. */
type Call = CallOf<'server'> | CallOf<'meta'> | ({ kind: 'clear' } & EndedCall)

export type RunCallsDeps = ServerCallDeps & Pick<RuntimeDeps, 'policy'>

/**
 * Runs the calls that have no result yet, each written down before and after. Neighbouring calls that only
 * read run at the same time, every other call alone and in order.
 */
export async function runCalls(
  deps: RunCallsDeps,
  cycle: ActiveCycle,
  rows: readonly ToolCallRow[],
  signal: AbortSignal,
): Promise<void> {
  const open = rows.filter(row => row.result_json === null)
  // After a restart the server of a call may still be starting.
  await Promise.all(open.map(row => deps.toolBox.untilListed(row.tool, signal)))
  const watched = await mayLoop(cycle, open)
  for (let next = open.shift(); next; next = open.shift()) {
    signal.throwIfAborted()
    cycle.stop.throwIfAborted()
    if (watched) await checkRepeats(cycle)
    const call = toCall(deps, cycle, next)
    if (call.kind === 'clear') await endClear(deps, cycle, call)
    else if (call.kind === 'meta') await runMeta(deps, cycle, call)
    else await runTogether(deps, cycle, takeReading(deps, cycle, call, open), signal)
  }
}

/** Returns a call with the following ones that may run together with it, and takes these off `open`. */
function takeReading(deps: RunCallsDeps, cycle: ActiveCycle, first: CallOf<'server'>, open: ToolCallRow[]) {
  const calls = [first]
  if (!first.tool.reads) return calls
  for (const row of open) {
    const call = toCall(deps, cycle, row)
    if (call.kind !== 'server' || !call.tool.reads) break
    const beside = calls.map(each => each.row)
    if (isOneTooMany(beside, row)) break
    calls.push(call)
  }
  open.splice(0, calls.length - 1)
  return calls
}

function toCall({ toolBox }: RunCallsDeps, { agent }: ActiveCycle, row: ToolCallRow): Call {
  const tool = toolBox.find(row.tool, agent.tools)
  const mayRepeat = tool?.kind === 'server' && tool.repeatable
  // A call that was started may have had its effect, even if its tool is gone by now.
  if (row.status === 'started' && !mayRepeat)
    return { kind: 'clear', row, outcome: UNKNOWN, status: 'unknown' }
  const failed = (text: string): Call => {
    return { kind: 'clear', row, outcome: { text, isError: true }, status: 'error' }
  }
  const args = parseArguments(row.arguments)
  if (!tool) return failed(toolBox.whyMissing(row.tool, agent.tools) ?? `There is no tool ${row.tool}.`)
  if (!args) return failed(`${row.tool}: the arguments are not a JSON object.`)
  return tool.kind === 'meta' ? { kind: 'meta', row, tool, args } : { kind: 'server', row, tool, args }
}

/** Starts the calls in one commit; those that need a person's yes only wait. */
async function runTogether(
  deps: RunCallsDeps,
  cycle: ActiveCycle,
  calls: readonly CallOf<'server'>[],
  signal: AbortSignal,
): Promise<void> {
  const running = await cycle.commit(async write => {
    const started: CallOf<'server'>[] = []
    for (const call of calls) {
      const { row } = call
      const { kind, reason } = row.status === 'planned' ? await decideCall(deps, write.tx, cycle, call) : RUNS
      const note = (outcome: string) => write.afterCommit(() => noteCall(deps, cycle, row, outcome))
      if (kind === 'ask') {
        await requestApproval(deps, write, cycle, { row, reason })
        note('waiting')
      } else if (kind === 'refuse') {
        await recordCall(write, cycle, toRefused(row, reason))
        note('denied')
      } else {
        await startCall(write.tx, row.id, write.now)
        started.push(call)
      }
    }
    return started
  })
  if (signal.aborted) await takeBack(cycle, running)
  signal.throwIfAborted()
  // An error is thrown once no call runs any more, so that no result comes after the cycle's end.
  const ends = await Promise.allSettled(running.map(call => runOne(deps, cycle, call, signal)))
  for (const each of ends) if (each.status === 'rejected') throw each.reason
}

/** Records a call whose result is clear before anything runs. */
async function endClear(deps: RunCallsDeps, cycle: ActiveCycle, call: EndedCall): Promise<void> {
  await endCalls(cycle, [call])
  noteCall(deps, cycle, call.row, call.status)
}

/** Reports a call that did not run now. */
function noteCall({ telemetry }: RunCallsDeps, cycle: ActiveCycle, row: ToolCallRow, outcome: string): void {
  beginCall(telemetry, row, cycle.account.trace).end(outcome, {})
}

function toRefused(row: ToolCallRow, reason: string): EndedCall {
  return { row, status: 'denied', outcome: { text: `${row.tool} did not run: ${reason}.`, isError: true } }
}

/** Takes back starts if the cycle's end came with their commit: no call was sent, so none is in doubt. */
async function takeBack(cycle: ActiveCycle, calls: readonly CallOf<'server'>[]): Promise<void> {
  const fresh = calls.flatMap(({ row }) => (row.status === 'planned' ? row.id : []))
  if (fresh.length > 0) await cycle.commit(({ tx }) => unstartCalls(tx, fresh))
}

/** Runs a call. One during which a person is asked goes on by itself: its result here is that it waits. */
async function runOne(
  deps: RunCallsDeps,
  cycle: ActiveCycle,
  call: CallOf<'server'>,
  signal: AbortSignal,
): Promise<void> {
  const { row } = call
  showCall(cycle.signals, toPlace(cycle), row, 'started')
  const outcome = await callServer(deps, cycle, call, signal)
  if (outcome) await endCalls(cycle, [{ row, outcome, status: toStatus(outcome) }])
}

/** Runs a meta-tool in the transaction that records its result: both happen, or neither. */
async function runMeta(
  deps: RunCallsDeps,
  cycle: ActiveCycle,
  { row, tool, args }: CallOf<'meta'>,
): Promise<void> {
  const run = () =>
    cycle.commit(async write => {
      const outcome = await tool.run(write.tx, args, {
        agent: cycle.agent.name,
        thread: cycle.thread,
        cycle: cycle.id,
        conversation: cycle.target,
        power: cycle.power,
        hasReadForeign: cycle.hasReadForeign,
        now: write.now,
        timezone: zoneOf(cycle.items, deps.timezone),
        afterCommit: write.afterCommit,
      })
      await recordCall(write, cycle, { row, outcome, status: toStatus(outcome) })
      return outcome
    })
  await measureCall(deps.telemetry, row, cycle.account.trace, run)
}
