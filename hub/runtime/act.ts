import type { ToolCallStatus } from '../../schemas/chat.ts'
import type { HistoryContent } from '../../schemas/inbox.ts'
import { parseJson } from '../core/json.ts'
import { truncate } from '../core/text.ts'
import type { AgentTool, ToolOutcome } from '../core/tool-box.ts'
import { markHandled } from '../store/events.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { drainItems } from '../store/inbox.ts'
import { callsOfStep, finishCall, resultOf, startCall } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { toUpdate } from './batch.ts'
import { type Claim, eventIds, LEASE_MS, readFacts } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { finish } from './finish.ts'
import { publish, tell } from './tell.ts'
import { settle } from './think.ts'

const SUMMARY_LENGTH = 300
const UNKNOWN: ToolOutcome = {
  text: 'Outcome unknown: the hub was cut off while this call ran. Verify what happened before you repeat it.',
  isError: true,
}

/** Runs the calls of the newest step, each written down before and after, and puts their results into the history. */
export async function act(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<'think' | 'ended'> {
  for (const row of await callsOfStep(deps.store.db, claim.cycle, claim.steps)) {
    if (row.result_json === null) await runCall(deps, claim, row, signal)
  }
  const rows = await callsOfStep(deps.store.db, claim.cycle, claim.steps)
  const ending = rows.find(row => row.status === 'ok' && endsCycle(deps, claim, row.tool))
  const ended = await deps.store.write(async tx => {
    const update = ending ? [] : await drainUpdate(deps, tx, claim)
    const contents = [...rows.map(toContent), ...update]
    const now = deps.clock.now()
    const lastSeq = await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
    claim.window.push(...(await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)))
    if (!ending) return undefined
    const notice = resultOf(ending).text
    return finish(deps, tx, claim, { kind: 'tool', text: textOfStep(claim), notice })
  })
  return ended ? settle(deps, ended) : 'think'
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

function toContent(row: ToolCallRow): HistoryContent {
  const { text, isError, structured } = resultOf(row)
  const content = { role: 'tool' as const, callId: row.call_id, name: row.tool, text, isError }
  return structured === undefined ? content : { ...content, structured }
}

/** What came meanwhile, as the message that tells of it. */
async function drainUpdate(deps: RuntimeDeps, tx: Tx, claim: Claim): Promise<HistoryContent[]> {
  const items = await drainItems(tx, claim.thread, claim.cycle)
  if (items.length === 0) return []
  claim.items.push(...items)
  await markHandled(tx, eventIds(items))
  const { agent, thread, target: replyTo } = claim
  const facts = await readFacts(deps, tx, { agent, thread, replyTo, now: deps.clock.now(), fresh: false })
  return [toUpdate(items, facts)]
}

async function runCall(
  deps: RuntimeDeps,
  claim: Claim,
  row: ToolCallRow,
  signal: AbortSignal,
): Promise<void> {
  const tool = deps.toolBox.find(row.tool, claim.agent.tools)
  const args = parseArguments(row)
  if (!tool) return end(deps, claim, row, { text: `There is no tool ${row.tool}.`, isError: true })
  if (!args) {
    return end(deps, claim, row, { text: `${row.tool}: the arguments are not a JSON object.`, isError: true })
  }
  if (tool.kind === 'meta') return runMeta(deps, claim, row, tool, args)
  if (row.status === 'started' && !tool.repeatable) return end(deps, claim, row, UNKNOWN, 'unknown')
  await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    await startCall(tx, row.id, now)
  })
  show(deps, claim, row, 'started')
  const outcome = await tool.call(args, {
    signal,
    idempotencyKey: row.id,
    onProgress: message => show(deps, claim, row, 'started', message),
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
    return { outcome: result, message: await record(deps, tx, claim, row, result, toStatus(result)) }
  })
  for (const effect of effects) effect()
  show(deps, claim, row, toStatus(outcome), outcome.text)
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
    return record(deps, tx, claim, row, outcome, status)
  })
  show(deps, claim, row, status, outcome.text)
  publish(deps, [message])
}

type EndStatus = Exclude<ToolCallStatus, 'planned' | 'started'>

function toStatus(outcome: ToolOutcome): EndStatus {
  return outcome.isError ? 'error' : 'ok'
}

async function record(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  row: ToolCallRow,
  result: ToolOutcome,
  status: EndStatus,
) {
  await finishCall(tx, row.id, { status, result, now: deps.clock.now() })
  return tell(deps, tx, claim, {
    kind: 'tool',
    author: row.tool,
    text: toSummary(result.text),
    data: {
      call: row.id,
      tool: row.tool,
      status,
      cycle: claim.cycle,
      arguments: truncate(row.arguments, SUMMARY_LENGTH),
    },
  })
}

function show(
  deps: RuntimeDeps,
  claim: Claim,
  row: ToolCallRow,
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

function toSummary(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= SUMMARY_LENGTH ? line : `${line.slice(0, SUMMARY_LENGTH - 1)}…`
}
