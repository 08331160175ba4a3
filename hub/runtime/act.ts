import type { HistoryContent } from '../../schemas/inbox.ts'
import { type InboxItem, nextItems } from '../store/inbox.ts'
import { callsOfStep, keepInHistory, resultOf } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { isOnQuestion, tellsForeign } from './batch.ts'
import { mayBeForeign, sharesPower } from './decide-batch.ts'
import { endByTool } from './end-cycle.ts'
import { toResults } from './limits/loops.ts'
import { isToldIn, schemaOf } from './reply.ts'
import { beginsTopic } from './reset.ts'
import { type RunCallsDeps, runCalls } from './run-calls.ts'
import { type BatchDeps, readFacts, takeItemsInto, toResting } from './take-batch.ts'
import type { Completion } from './tasks.ts'

/** Runs the calls of the newest step, each written down before and after, and appends their results. */
export async function act(
  deps: RunCallsDeps & BatchDeps,
  cycle: ActiveCycle,
  signal: AbortSignal,
): Promise<'think' | 'ended'> {
  await runCalls(deps, cycle, await callsOfStep(cycle.db, cycle.id, cycle.steps), signal)
  const rows = await callsOfStep(cycle.db, cycle.id, cycle.steps)
  const ending = rows.find(({ status, tool: name }) => {
    const tool = status === 'ok' && deps.toolBox.find(name, cycle.agent.tools)
    return tool && tool.kind === 'meta' && tool.ends
  })
  const results = await toResults(cycle, rows)
  return cycle.commit(async write => {
    // A cycle that ends here takes no more items: nobody would read them in it.
    const isOver = ending !== undefined || cycle.stop.aborted
    const update = isOver ? [] : await takeUpdate(deps, write, cycle, results)
    await cycle.append(write, [...results, ...update])
    await keepInHistory(write.tx, rows)
    if (!ending) return 'think'
    const text = cycle.window.findLast(({ content }) => content.role === 'assistant')?.content.text ?? ''
    await endByTool(write, cycle, { text, notice: resultOf(ending).text, completed: completionOf(rows) })
    return 'ended'
  })
}

/** Returns the result of the step's successful `complete_task`, if there is one. */
function completionOf(rows: readonly ToolCallRow[]): Completion | undefined {
  const row = rows.find(each => each.tool === 'complete_task' && each.status === 'ok')
  const { structured } = row ? resultOf(row) : {}
  return structured as Completion | undefined
}

/** Takes the items that came meanwhile and may join the cycle. Returns the message that shows them, if any. */
async function takeUpdate(
  deps: BatchDeps,
  { tx, now, afterCommit }: CycleWrite,
  cycle: ActiveCycle,
  results: readonly HistoryContent[],
): Promise<HistoryContent[]> {
  const { agent, thread, target: replyTo } = cycle
  const waiting = (await nextItems(tx, thread)).filter(item => mayJoin(cycle, item))
  if (waiting.length === 0) return []
  const last = cycle.window.at(-1)?.seq ?? 0
  const window = [...cycle.window, ...results.map((content, index) => ({ seq: last + 1 + index, content }))]
  const facts = {
    ...(await readFacts(deps, tx, { agent, thread, replyTo, now, window })),
    power: cycle.power,
  }
  const before = { agent, thread, window, anchor: cycle.anchor, earlier: cycle.items }
  const { items, hasMore, message } = await takeItemsInto(deps, tx, cycle.id, 'update', {
    ...before,
    waiting,
    facts,
  })
  if (items.some(mayBeForeign) || tellsForeign(facts)) await cycle.noteForeign({ tx, now, afterCommit })
  afterCommit(() => {
    if (items.length > 0) cycle.join(items, toResting(facts))
    cycle.hasMore ||= hasMore
  })
  return items.length > 0 ? [message(facts)] : []
}

/**
 * Tells whether an item may join the running cycle: only one of the same power. While the agent answers one
 * conversation alone, messages of others wait. An item that is told in another conversation always waits, and so does
 * everything while a message with a schema is answered, or if the item has a schema or begins a new topic.
 */
function mayJoin({ agent, power, window, target, items }: ActiveCycle, item: InboxItem): boolean {
  if (!sharesPower(item, power)) return false
  if (item.payload.kind === 'reset' || [item, ...items].some(schemaOf)) return false
  if (item.payload.kind !== 'message') return isToldIn(item, target, agent)
  if (beginsTopic(item.payload.text)) return false
  return item.payload.conversation === target || !isOnQuestion(window)
}
