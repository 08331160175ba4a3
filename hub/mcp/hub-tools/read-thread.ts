import { z } from 'zod'
import { auditCycle, type ThreadAudit, threadAudit, wholeCall } from '../../../schemas/hub-lists.ts'
import { toIso } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { toLine, truncate } from '../../core/text.ts'
import { resultOf } from '../../store/ledger.ts'
import {
  type AuditEntry,
  callsOfCycles,
  cyclesOfThread,
  findCall,
  findListed,
  historyOfCycles,
} from '../../store/read-threads.ts'
import type { CycleRow, ToolCallRow } from '../../store/tables.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, toView } from './hub-tool.ts'
import { toThreadView } from './threads.ts'

/** Characters of one result that are shown; the history holds it whole. */
const LONGEST_RESULT = 4_000

export const readThreadTool = defineHubTool({
  name: 'hub_read_thread',
  title: 'Read a thread',
  description:
    'What happened in a thread (hub_list_threads names them): its cycles with what each was told, the steps of the model, every tool call with its outcome, tokens and cost.',
  input: z.strictObject({
    thread: z.string().min(1).max(200),
    after: z.string().max(200).optional().describe('the id of a cycle; default: the newest cycles'),
    limit: z.int().min(1).max(100).default(20).describe('cycles'),
  }),
  output: threadAudit,
  effect: 'reads',
  right: 'records',
  run: (args, { deps }) => readAudit(deps, args),
  toText: describeAudit,
})

/** Characters of a call's result that are shown where it is read alone. */
const LONGEST_WHOLE = 200_000

export const readCallTool = defineHubTool({
  name: 'hub_read_call',
  title: 'Read a call',
  description:
    "One call of a tool by an agent: its arguments and its whole result. The id is that of a conversation's message (`data.call`) or of hub_read_thread.",
  input: z.strictObject({ call: z.string().min(1).max(200) }),
  output: wholeCall,
  effect: 'reads',
  right: 'records',
  async run({ call }, { deps }) {
    const { db } = deps.store
    const row = await findCall(db, call)
    if (!row) throw new HubError('not_found', `There is no call ${call}; old ones are removed by retention`)
    const entries = await historyOfCycles(db, row.thread_id, [row.cycle_id])
    const { tool, arguments: given, status } = row
    const text = row.result_json === null ? undefined : resultText(row, entries)
    return {
      tool,
      arguments: given,
      status,
      ...(text === undefined ? {} : { result: truncate(text, LONGEST_WHOLE) }),
    }
  },
  toText: one => `${one.tool} ${one.arguments} → ${one.status}:\n${one.result ?? ''}`,
})

async function readAudit(
  deps: HubToolDeps,
  { thread, after, limit }: { thread: string; after?: string | undefined; limit: number },
): Promise<ThreadAudit> {
  const { db } = deps.store
  const row = await findListed(db, thread)
  if (!row) throw new HubError('not_found', `There is no thread ${thread}; hub_list_threads shows them`)
  const rows = await cyclesOfThread(db, thread, { after, limit })
  const ids = rows.map(({ id }) => id)
  const entries = Map.groupBy(await historyOfCycles(db, thread, ids), entry => entry.cycle)
  const calls = Map.groupBy(await callsOfCycles(db, ids), each => each.cycle_id)
  return {
    thread: toThreadView(row),
    cycles: rows.map(each => toCycle(each, entries.get(each.id) ?? [], calls.get(each.id) ?? [])),
  }
}

function toCycle(row: CycleRow, entries: readonly AuditEntry[], calls: readonly ToolCallRow[]) {
  return auditCycle.parse({
    ...toView(row),
    tokens: { input: row.input_tokens, output: row.output_tokens, cached: row.cached_tokens },
    cost: row.cost_micros / 1_000_000,
    inbox: entries.flatMap(({ content, at }) =>
      content.role === 'user' ? [{ at, text: content.text }] : [],
    ),
    steps: entries.flatMap(({ step, at, content }) => {
      if (content.role !== 'assistant') return []
      const own = calls.filter(each => each.step === step)
      return [{ step, at, text: content.text, calls: own.map(each => toCall(each, entries)) }]
    }),
  })
}

function toCall(row: ToolCallRow, entries: readonly AuditEntry[]) {
  const hasResult = row.result_json !== null
  return {
    ...toView(row),
    result: hasResult ? truncate(resultText(row, entries), LONGEST_RESULT) : undefined,
  }
}

/** Returns a call's result: from the ledger if it needed an approval, else as its agent got it. */
function resultText(row: ToolCallRow, entries: readonly AuditEntry[]): string {
  const held = entries.find(
    ({ step, content }) => step === row.step && content.role === 'tool' && content.callId === row.call_id,
  )
  return held && row.approval_id === null ? held.content.text : resultOf(row).text
}

function describeAudit({ thread, cycles }: ThreadAudit): string {
  const lines = cycles.flatMap(one => [
    `${one.id} ${one.status} at ${toIso(one.startedAt)}, ${one.tokens.input + one.tokens.output} tokens${one.note ? `: ${toLine(one.note)}` : ''}`,
    ...one.inbox.map(({ text }) => indent(text, '  > ')),
    ...one.steps.flatMap(({ text, calls }) => [
      ...(text === '' ? [] : [indent(text, '  ')]),
      ...calls.map(each =>
        indent(`${each.tool} ${each.arguments} → ${each.status}: ${each.result ?? ''}`, '    '),
      ),
    ]),
  ])
  return [`${thread.id} (${thread.agent}, ${thread.status})`, ...lines].join('\n')
}

function indent(text: string, by: string): string {
  return text.replace(/^/gm, by)
}
