import type { HistoryContent } from '../../schemas/inbox.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { type InboxItem, nextItems } from '../store/inbox.ts'
import { callsOfStep, keepInHistory, resultOf } from '../store/ledger.ts'
import type { ToolCallRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import { isOnQuestion } from './batch.ts'
import { type Claim, LEASE_MS, readFacts, toResting } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { finish } from './finish.ts'
import { toResults } from './limits/loops.ts'
import { isToldIn, schemaOf } from './reply.ts'
import { runCalls } from './run-calls.ts'
import { takeUpdate } from './take-batch.ts'
import { announceEnded, type Completion } from './tasks.ts'
import { publish } from './tell.ts'

/** Runs the calls of the newest step, each written down before and after, and appends their results. */
export async function act(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<'think' | 'ended'> {
  await runCalls(deps, claim, await callsOfStep(deps.store.db, claim.cycle, claim.steps), signal)
  const rows = await callsOfStep(deps.store.db, claim.cycle, claim.steps)
  const ending = rows.find(row => row.status === 'ok' && endsCycle(deps, claim, row.tool))
  const results = await toResults(deps, claim, rows)
  const done = await deps.store.write(async tx => {
    // A cycle that ends here takes no more items: nobody would read them in it.
    const isOver = ending !== undefined || claim.stop?.aborted === true
    const update = isOver ? NO_UPDATE : await drainUpdate(deps, tx, claim, results)
    const contents = [...results, ...update.contents]
    const now = deps.clock.now()
    const lastSeq = await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
    const entries = await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)
    await keepInHistory(tx, rows)
    if (!ending) return { entries, update, ended: undefined }
    const notice = resultOf(ending).text
    const ended = await finish(deps, tx, claim, {
      text: textOfStep(claim),
      notice,
      completed: completionOf(rows),
    })
    return { entries, update, ended }
  })
  claim.window.push(...done.entries)
  claim.items.push(...done.update.items)
  claim.unseen = done.update.items
  claim.hasMore ||= done.update.hasMore
  claim.resting = done.update.resting ?? claim.resting
  if (!done.ended) return 'think'
  publish(deps, done.ended.messages)
  announceEnded(deps, done.ended.over)
  return 'ended'
}

/** Returns the result of the step's successful `complete_task`, if there is one. */
function completionOf(rows: readonly ToolCallRow[]): Completion | undefined {
  const row = rows.find(each => each.tool === 'complete_task' && each.status === 'ok')
  const { structured } = row ? resultOf(row) : {}
  return structured as Completion | undefined
}

function endsCycle(deps: RuntimeDeps, claim: Claim, name: string): boolean {
  const tool = deps.toolBox.find(name, claim.agent.tools)
  return tool?.kind === 'meta' && tool.ends
}

/** Returns the text that the model wrote beside the calls of the newest step. */
function textOfStep(claim: Claim): string {
  const said = claim.window.findLast(entry => entry.content.role === 'assistant')
  return said?.content.text ?? ''
}

interface Update {
  items: InboxItem[]
  hasMore: boolean
  contents: HistoryContent[]
  resting?: Claim['resting']
}

const NO_UPDATE: Update = { items: [], hasMore: false, contents: [] }

/** Takes the items that came meanwhile and may join the cycle, and builds the message that shows them. */
async function drainUpdate(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  results: readonly HistoryContent[],
): Promise<Update> {
  const { agent, thread, target: replyTo, anchor } = claim
  const waiting = (await nextItems(tx, thread)).filter(item => mayJoin(claim, item))
  if (waiting.length === 0) return NO_UPDATE
  const last = claim.window.at(-1)?.seq ?? 0
  const window = [...claim.window, ...results.map((content, index) => ({ seq: last + 1 + index, content }))]
  const contents = window.map(entry => entry.content)
  const facts = await readFacts(deps, tx, { agent, thread, replyTo, now: deps.clock.now(), contents })
  const update = await takeUpdate(deps, tx, claim.cycle, { agent, thread, window, anchor, waiting, facts })
  const { items, hasMore } = update
  if (items.length === 0) return { ...NO_UPDATE, hasMore }
  return { items, hasMore, contents: [update.toMessage(facts)], resting: toResting(facts) }
}

/**
 * Tells whether an item may join the running cycle. While the agent answers one conversation alone, messages
 * of others wait. An item that is told in another conversation always waits, and so does everything while a
 * message with a schema is answered, or if the item has a schema.
 */
function mayJoin({ agent, window, target, items }: Claim, item: InboxItem): boolean {
  if (item.payload.kind === 'reset' || [item, ...items].some(schemaOf)) return false
  if (item.payload.kind !== 'message') return isToldIn(item, target, agent)
  return item.payload.conversation === target || !isOnQuestion(window)
}
