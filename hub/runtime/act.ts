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

/** Runs the calls of the newest step, each written down before and after, and puts their results into the history. */
export async function act(deps: RuntimeDeps, claim: Claim, signal: AbortSignal): Promise<'think' | 'ended'> {
  await runCalls(deps, claim, await callsOfStep(deps.store.db, claim.cycle, claim.steps), signal)
  const rows = await callsOfStep(deps.store.db, claim.cycle, claim.steps)
  const ending = rows.find(row => row.status === 'ok' && endsCycle(deps, claim, row.tool))
  const results = await toResults(deps, claim, rows)
  const done = await deps.store.write(async tx => {
    // What nobody will read any more in this cycle waits for the next one.
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

/** What a task is completed with, where a call of the step completes it. */
function completionOf(rows: readonly ToolCallRow[]): Completion | undefined {
  const row = rows.find(each => each.tool === 'complete_task' && each.status === 'ok')
  const { structured } = row ? resultOf(row) : {}
  return structured as Completion | undefined
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

interface Update {
  items: InboxItem[]
  hasMore: boolean
  contents: HistoryContent[]
  resting?: Claim['resting']
}

const NO_UPDATE: Update = { items: [], hasMore: false, contents: [] }

/** What came meanwhile, and the message that tells of it. */
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
 * While the agent answers one conversation alone, people of others wait, and so does always what is told elsewhere, and
 * everything while a message with a schema is answered, or for one.
 */
function mayJoin({ agent, window, target, items }: Claim, item: InboxItem): boolean {
  if (item.payload.kind === 'reset' || [item, ...items].some(schemaOf)) return false
  if (item.payload.kind !== 'message') return isToldIn(item, target, agent)
  return item.payload.conversation === target || !isOnQuestion(window)
}
