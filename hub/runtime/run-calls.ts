import type { AgentTool, ToolOutcome } from '../core/tool-box.ts'
import { fencedWrite } from '../store/history.ts'
import { startCall, unstartCalls } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { parseArguments } from './arguments.ts'
import { type AskedApproval, askApproval, showAsked, whyApproval } from './ask-approval.ts'
import { callServer } from './call-server.ts'
import { type EndStatus, recordCall, showCall, toStatus, UNKNOWN } from './calls.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { checkRepeats, isOneTooMany, mayLoop } from './limits/loops.ts'
import { publish } from './tell.ts'

interface CallOf<Kind extends AgentTool<Tx>['kind']> {
  kind: Kind
  row: ToolCallRow
  tool: Extract<AgentTool<Tx>, { kind: Kind }>
  args: Record<string, unknown>
}

/** A call whose result is clear before anything runs. */
interface ClearCall {
  kind: 'clear'
  row: ToolCallRow
  outcome: ToolOutcome
  status: EndStatus
}

type Call = CallOf<'server'> | CallOf<'meta'> | ClearCall

/**
 * Runs the calls that have no result yet, each written down before and after. Neighbouring calls that only
 * read run at the same time, every other call alone and in order.
 */
export async function runCalls(
  deps: RuntimeDeps,
  claim: Claim,
  rows: readonly ToolCallRow[],
  signal: AbortSignal,
): Promise<void> {
  const open = rows.filter(row => row.result_json === null)
  // After a restart the server of a call may still be starting.
  await Promise.all(open.map(row => deps.toolBox.untilListed(row.tool, signal)))
  const watched = await mayLoop(deps, claim, open)
  for (let next = open.shift(); next; next = open.shift()) {
    signal.throwIfAborted()
    claim.stop?.throwIfAborted()
    if (watched) await checkRepeats(deps, claim)
    const call = toCall(deps, claim, next)
    if (call.kind === 'clear') await end(deps, claim, call)
    else if (call.kind === 'meta') await runMeta(deps, claim, call)
    else await runTogether(deps, claim, takeReading(deps, claim, call, open), signal)
  }
}

/** Returns a call with the following ones that may run together with it, and takes these off `open`. */
function takeReading(deps: RuntimeDeps, claim: Claim, first: CallOf<'server'>, open: ToolCallRow[]) {
  const calls = [first]
  if (!first.tool.reads) return calls
  for (const row of open) {
    const call = toCall(deps, claim, row)
    if (call.kind !== 'server' || !call.tool.reads) break
    const beside = calls.map(each => each.row)
    if (isOneTooMany(beside, row)) break
    calls.push(call)
  }
  open.splice(0, calls.length - 1)
  return calls
}

function toCall(deps: RuntimeDeps, claim: Claim, row: ToolCallRow): Call {
  const tool = deps.toolBox.find(row.tool, claim.agent.tools)
  const mayRepeat = tool?.kind === 'server' && tool.repeatable
  // A call that was started may have had its effect, even if its tool is gone by now.
  if (row.status === 'started' && !mayRepeat)
    return { kind: 'clear', row, outcome: UNKNOWN, status: 'unknown' }
  const failed = (text: string): ClearCall => {
    return { kind: 'clear', row, outcome: { text, isError: true }, status: 'error' }
  }
  const args = parseArguments(row.arguments)
  if (!tool)
    return failed(deps.toolBox.whyMissing(row.tool, claim.agent.tools) ?? `There is no tool ${row.tool}.`)
  if (!args) return failed(`${row.tool}: the arguments are not a JSON object.`)
  return tool.kind === 'meta' ? { kind: 'meta', row, tool, args } : { kind: 'server', row, tool, args }
}

/** Starts the calls in one commit; those that need a person's yes only wait. */
async function runTogether(
  deps: RuntimeDeps,
  claim: Claim,
  calls: readonly CallOf<'server'>[],
  signal: AbortSignal,
): Promise<void> {
  const asked = await startCalls(deps, claim, calls)
  for (const each of asked) showAsked(deps, claim, each)
  const waiting = new Set(asked.map(each => each.row.id))
  const running = calls.filter(({ row }) => !waiting.has(row.id))
  if (signal.aborted) await takeBack(deps, claim, running)
  signal.throwIfAborted()
  // An error is thrown once no call runs any more, so that no result comes after the cycle's end.
  const ends = await Promise.allSettled(running.map(call => runOne(deps, claim, call, signal)))
  for (const each of ends) if (each.status === 'rejected') throw each.reason
}

/** Takes back starts if the cycle's end came with their commit: no call was sent, so none is in doubt. */
async function takeBack(deps: RuntimeDeps, claim: Claim, calls: readonly CallOf<'server'>[]): Promise<void> {
  const fresh = calls.flatMap(({ row }) => (row.status === 'planned' ? row.id : []))
  if (fresh.length === 0) return
  await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    await unstartCalls(tx, fresh)
  })
}

function startCalls(
  deps: RuntimeDeps,
  claim: Claim,
  calls: readonly CallOf<'server'>[],
): Promise<AskedApproval[]> {
  return deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    const asked: AskedApproval[] = []
    for (const call of calls) {
      const { row } = call
      const reason = row.status === 'planned' ? await whyApproval(deps, tx, claim, call) : undefined
      if (reason === undefined) await startCall(tx, row.id, now)
      else asked.push(await askApproval(deps, tx, claim, { row, reason }))
    }
    return asked
  })
}

/** Runs a call. One during which a person is asked goes on by itself: its result here is that it waits. */
async function runOne(
  deps: RuntimeDeps,
  claim: Claim,
  call: CallOf<'server'>,
  signal: AbortSignal,
): Promise<void> {
  const { row } = call
  showCall(deps, claim, row, 'started')
  const outcome = await callServer(deps, claim, call, signal)
  if (outcome) await end(deps, claim, { row, outcome, status: toStatus(outcome) })
}

/** Runs a meta-tool in the transaction that records its result: both happen, or neither. */
async function runMeta(deps: RuntimeDeps, claim: Claim, { row, tool, args }: CallOf<'meta'>): Promise<void> {
  const effects: (() => void)[] = []
  const now = deps.clock.now()
  const { outcome, message } = await deps.store.write(async tx => {
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    const result = await tool.run(tx, args, {
      agent: claim.agent.name,
      thread: claim.thread,
      cycle: claim.cycle,
      conversation: claim.target,
      now,
      afterCommit: effect => effects.push(effect),
    })
    const ended = { row, outcome: result, status: toStatus(result) }
    return { outcome: result, message: await recordCall(deps, tx, claim, ended) }
  })
  for (const effect of effects) effect()
  showCall(deps, claim, row, toStatus(outcome), outcome.text)
  publish(deps, [message])
}

async function end(
  deps: RuntimeDeps,
  claim: Claim,
  { row, outcome, status }: Pick<ClearCall, 'row' | 'outcome' | 'status'>,
): Promise<void> {
  const message = await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    return recordCall(deps, tx, claim, { row, outcome, status })
  })
  showCall(deps, claim, row, status, outcome.text)
  publish(deps, [message])
}
