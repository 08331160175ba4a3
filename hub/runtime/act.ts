import type { HistoryContent } from '../../schemas/inbox.ts'
import { parseJson } from '../core/json.ts'
import type { AgentTool, ToolOutcome } from '../core/tool-box.ts'
import { markHandled } from '../store/events.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { drainUpdates, type InboxItem } from '../store/inbox.ts'
import { callsOfStep, resultOf, startCall } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { toUpdate } from './batch.ts'
import { type EndStatus, recordCall, showCall, UNKNOWN } from './calls.ts'
import { type Claim, eventIds, LEASE_MS, readFacts } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { finish } from './finish.ts'
import { toResults } from './limits/loops.ts'
import { publish } from './tell.ts'

/** Runs the calls of the newest step, each written down before and after, and puts their results into the history. */
export async function act(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<'think' | 'ended'> {
  for (const row of await callsOfStep(deps.store.db, claim.cycle, claim.steps)) {
    signal.throwIfAborted()
    claim.stop?.throwIfAborted()
    if (row.result_json === null) await runCall(deps, claim, row, signal)
  }
  const rows = await callsOfStep(deps.store.db, claim.cycle, claim.steps)
  const ending = rows.find(row => row.status === 'ok' && endsCycle(deps, claim, row.tool))
  const results = await toResults(deps, claim, rows)
  const done = await deps.store.write(async tx => {
    const update = ending ? { items: [], contents: [] } : await drainUpdate(deps, tx, claim, results)
    const contents = [...results, ...update.contents]
    const now = deps.clock.now()
    const lastSeq = await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
    const entries = await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)
    if (!ending) return { entries, items: update.items, ended: undefined }
    const notice = resultOf(ending).text
    const ended = await finish(deps, tx, claim, { text: textOfStep(claim), notice })
    return { entries, items: update.items, ended }
  })
  claim.window.push(...done.entries)
  claim.items.push(...done.items)
  if (!done.ended) return 'think'
  publish(deps, done.ended)
  return 'ended'
}

function endsCycle(deps: RuntimeDeps, claim: Claim, name: string): boolean {
  const tool = deps.toolBox.find(name, claim.agent.tools)
  return tool?.kind === 'meta' && tool.ends
}

/** The text that the model wrote beside the calls of the newest step. */
function textOfStep(claim: Claim): string {
  const said = claim.window.findLast(entry => entry.content.role === 'assistant')
  return said?.content.text ?? ''
}

/** What came meanwhile, and the message that tells of it. */
async function drainUpdate(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  results: readonly HistoryContent[],
): Promise<{ items: InboxItem[]; contents: HistoryContent[] }> {
  const items = await drainUpdates(tx, claim.thread, claim.cycle)
  if (items.length === 0) return { items, contents: [] }
  await markHandled(tx, eventIds(items))
  const { agent, thread, target: replyTo } = claim
  const contents = [...claim.window.map(entry => entry.content), ...results]
  const facts = await readFacts(deps, tx, { agent, thread, replyTo, now: deps.clock.now(), contents })
  return { items, contents: [toUpdate(items, facts)] }
}

async function runCall(
  deps: RuntimeDeps,
  claim: Claim,
  row: ToolCallRow,
  signal: AbortSignal,
): Promise<void> {
  const tool = deps.toolBox.find(row.tool, claim.agent.tools)
  const mayRepeat = tool?.kind === 'server' && tool.repeatable
  // Even one whose tool is gone by now may have had its effect.
  if (row.status === 'started' && !mayRepeat) return end(deps, claim, row, UNKNOWN, 'unknown')
  const args = parseArguments(row)
  if (!tool) return end(deps, claim, row, { text: `There is no tool ${row.tool}.`, isError: true })
  if (!args) {
    return end(deps, claim, row, { text: `${row.tool}: the arguments are not a JSON object.`, isError: true })
  }
  if (tool.kind === 'meta') return runMeta(deps, claim, row, tool, args)
  await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    await startCall(tx, row.id, now)
  })
  showCall(deps, claim, row, 'started')
  const outcome = await tool.call(args, {
    signal,
    idempotencyKey: row.id,
    onProgress: message => showCall(deps, claim, row, 'started', message),
  })
  return end(deps, claim, row, outcome)
}

function parseArguments(row: ToolCallRow): Record<string, unknown> | undefined {
  const value = parseJson(row.arguments.trim() || '{}')
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

type MetaAgentTool = Extract<AgentTool<Tx>, { kind: 'meta' }>

/** A meta-tool acts in the transaction that records its result: both happen, or neither. */
async function runMeta(
  deps: RuntimeDeps,
  claim: Claim,
  row: ToolCallRow,
  tool: MetaAgentTool,
  args: Record<string, unknown>,
): Promise<void> {
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
  row: ToolCallRow,
  outcome: ToolOutcome,
  status: EndStatus = toStatus(outcome),
): Promise<void> {
  const message = await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    return recordCall(deps, tx, claim, { row, outcome, status })
  })
  showCall(deps, claim, row, status, outcome.text)
  publish(deps, [message])
}

function toStatus(outcome: ToolOutcome): EndStatus {
  return outcome.isError ? 'error' : 'ok'
}
