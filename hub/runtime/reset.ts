import type { ChatMessage } from '../../schemas/chat.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { NewId } from '../core/ids.ts'
import type { Signals } from '../core/signals.ts'
import { appendMessage } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { endSession, newestSession } from '../store/sessions.ts'
import type { ThreadRow } from '../store/tables.ts'
import { ensureMainThread, moveWindow } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { readWindow } from './read-window.ts'
import { extractSummary, parseSummary, printSummary } from './summary.ts'
import { tokensOfAll } from './tokens.ts'

export interface ResetDeps {
  store: Store
  clock: Clock
  newId: NewId
  signals: Signals
  agents: () => readonly { name: string; conversations: readonly string[] }[]
}

export interface ResetRequest {
  agent: string
  /** The name of the token of whoever asks. */
  by: string
  /** What the agent is told of the reason. */
  message?: string | undefined
  /** Where people see it; default the agent's first conversation. */
  conversation?: string | undefined
}

/** Starts an agent's history fresh; a cycle that runs ends first. Throws `not_found`. */
export type Reset = (request: ResetRequest) => Promise<{ conversation: string }>

export function createReset({ store, clock, newId, signals, agents }: ResetDeps): Reset {
  return async ({ agent, by, message, conversation }) => {
    const known = agents().find(each => each.name === agent)
    if (!known) {
      const names = agents().map(each => each.name)
      throw new HubError('not_found', `There is no agent ${agent}; agents: ${names.join(', ') || 'none'}`)
    }
    const place = conversation ?? known.conversations[0] ?? agent
    const { thread, told } = await store.write(async tx => {
      const at = clock.now()
      const main = await ensureMainThread(tx, agent, at)
      const payload = { kind: 'reset' as const, by, ...(message ? { message } : {}) }
      await postItem(tx, { thread: main, source: 'reset', externalId: newId('rst'), payload, at })
      return { thread: main, told: await tellReset(tx, { agent, by, message, place, at, id: newId('msg') }) }
    })
    signals.emit('message', told)
    signals.emit('posted', { thread })
    return { conversation: place }
  }
}

interface Told {
  agent: string
  by: string
  message: string | undefined
  place: string
  at: number
  id: string
}

function tellReset(tx: Tx, { agent, by, message, place, at, id }: Told): Promise<ChatMessage> {
  const why = message ? `: ${message}` : ''
  const text = `${agent} starts fresh, as ${by} asked${why}. Stored context, schedules and tasks stay; what was said before is found with search.`
  return appendMessage(tx, { id, conversation: place, kind: 'notice', author: agent, text, at })
}

/** Ends the session of everything before the batch that stands at the thread's newest place; the window begins there. */
export async function startFresh(
  deps: Pick<RuntimeDeps, 'model'>,
  tx: Tx,
  { agent, row, now }: { agent: RuntimeAgent; row: ThreadRow; now: number },
): Promise<void> {
  const last = row.last_seq - 1
  if (last >= row.window_start) {
    const entries = await readWindow(deps, tx, { ...row, last_seq: last }, agent.model)
    const before = await newestSession(tx, row.id)
    const earlier = before?.head ? parseSummary(before.summary) : undefined
    const tokens = tokensOfAll(entries)
    await endSession(tx, {
      thread_id: row.id,
      first_seq: row.window_start,
      last_seq: last,
      ended_at: now,
      tokens,
      reason: 'reset',
      summary: printSummary(extractSummary(earlier, entries, tokens)),
      summary_by: 'extract',
      head: null,
    })
  }
  await moveWindow(tx, row.id, row.last_seq)
}
