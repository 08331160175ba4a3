import { type StoredFact, storedFact } from '../../schemas/inbox.ts'
import { type HistoryEntry, readHistory } from '../store/history.ts'
import { newestSession } from '../store/sessions.ts'
import type { ThreadRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { cutLength, toCut, toMarks, toStub } from './window.ts'

/** Reads a thread's window: the message for everything before it, and its entries, each in its form. */
export async function readWindow(
  deps: Pick<RuntimeDeps, 'model'>,
  tx: Tx,
  row: ThreadRow,
  { model, limits }: Pick<RuntimeAgent, 'model' | 'limits'>,
): Promise<HistoryEntry[]> {
  const head = row.window_start > 1 ? await newestSession(tx, row.id) : undefined
  const rows = row.last_seq < row.window_start ? [] : await readHistory(tx, row.id, row.window_start)
  const length = cutLength(toMarks(deps.model(model), limits.tokens))
  const entries = rows.flatMap(({ seq, content, form }): HistoryEntry[] => {
    if (form === 'hidden') return []
    if (form === 'stub') return [{ seq, content: toStub(content) }]
    return [{ seq, content: form === 'cut' ? toCut(content, length) : content }]
  })
  if (!head?.head || head.last_seq !== row.window_start - 1) return entries
  const content = { role: 'user' as const, text: head.head, items: [] }
  const told = head.facts_json === null ? {} : { tellsContext: true, facts: readFacts(head.facts_json) }
  return [{ seq: head.last_seq, content: { ...content, ...told } }, ...entries]
}

function readFacts(json: string): StoredFact[] {
  return storedFact.array().parse(JSON.parse(json))
}
