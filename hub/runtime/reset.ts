import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import type { Clock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import type { NewId } from '../core/ids.ts'
import type { Signals } from '../core/signals.ts'
import { appendMessage, appendOnce } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import type { Store } from '../store/open.ts'
import { endSession, newestSession } from '../store/sessions.ts'
import { requestStops, type StoppedCycle } from '../store/stops.ts'
import type { ThreadRow } from '../store/tables.ts'
import { ensureMainThread, moveWindow } from '../store/threads.ts'
import { dropUnanswered } from '../store/unanswered.ts'
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
  /** The name of the requester's token. */
  by: string
  /** The reason that the agent is told. */
  message?: string | undefined
  /** The conversation in which people see it; default the agent's first. */
  conversation?: string | undefined
}

/** Starts an agent's history fresh and stops a running cycle. Throws `not_found`. */
export type Reset = (request: ResetRequest) => Promise<{ conversation: string }>

export function createReset(deps: ResetDeps): Reset {
  return async ({ agent, by, message, conversation }) => {
    const known = deps.agents().find(each => each.name === agent)
    if (!known) {
      const names = deps.agents().map(each => each.name)
      throw new HubError('not_found', `There is no agent ${agent}; agents: ${names.join(', ') || 'none'}`)
    }
    const place = conversation ?? known.conversations[0] ?? agent
    const done = await deps.store.write(tx => writeReset(deps, tx, { agents: [agent], by, message, place }))
    announce(deps, done, by)
    return { conversation: place }
  }
}

/** Reads `/reset` or `/reset why` from a message's whole text; undefined for any other text. */
export function parseReset(text: string): { message?: string } | undefined {
  const [, why] = /^\/reset(?:\s+([\s\S]+))?$/.exec(text.trim()) ?? []
  if (why !== undefined) return { message: why.trim() }
  return text.trim() === '/reset' ? {} : undefined
}

/**
 * Handles `/reset` in a conversation: it stands there as the user's message, and its agents start fresh. The
 * same `clientId` again does nothing.
 */
export async function resetByMessage(
  deps: Omit<ResetDeps, 'agents'>,
  agents: readonly string[],
  message: NewUserMessage,
): Promise<ChatMessage> {
  const { conversation, text, author, token, clientId } = message
  const { posted, done } = await deps.store.write(async tx => {
    const named = clientId === undefined ? {} : { token, clientId }
    const id = deps.newId('msg')
    const at = deps.clock.now()
    const said = { id, conversation, kind: 'user' as const, author, text, at, ...named }
    const { posted: own, isNew } = await appendOnce(tx, said)
    if (!isNew) return { posted: own, done: undefined }
    const why = parseReset(text)?.message
    const reset = await writeReset(deps, tx, {
      agents,
      by: author,
      message: why,
      place: conversation,
      inReplyTo: id,
    })
    return { posted: own, done: { ...reset, told: [own, ...reset.told] } }
  })
  if (done) announce(deps, done, author)
  return posted
}

interface Resetting {
  agents: readonly string[]
  by: string
  message: string | undefined
  place: string
  inReplyTo?: string
}

interface ResetDone {
  threads: string[]
  told: ChatMessage[]
  stopped: StoppedCycle[]
}

async function writeReset(
  { clock, newId }: Pick<ResetDeps, 'clock' | 'newId'>,
  tx: Tx,
  { agents, by, message, place, inReplyTo }: Resetting,
): Promise<ResetDone> {
  const at = clock.now()
  const done: ResetDone = { threads: [], told: [], stopped: [] }
  for (const agent of agents) {
    const thread = await ensureMainThread(tx, agent, at)
    const payload = { kind: 'reset' as const, by, ...(message ? { message } : {}) }
    await postItem(tx, { thread, source: 'reset', externalId: newId('rst'), payload, at })
    const text = `${agent} starts fresh, as ${by} asked${message ? `: ${message}` : '.'}\nStored context, schedules and tasks stay; what was said before is found with search.`
    const notice = { id: newId('msg'), conversation: place, kind: 'notice' as const, author: agent, text, at }
    done.told.push(await appendMessage(tx, { ...notice, ...(inReplyTo ? { inReplyTo: [inReplyTo] } : {}) }))
    done.threads.push(thread)
  }
  done.stopped = await requestStops(tx, { threads: done.threads }, by)
  return done
}

function announce({ signals }: Pick<ResetDeps, 'signals'>, done: ResetDone, by: string): void {
  for (const told of done.told) signals.emit('message', told)
  for (const { thread, cycle } of done.stopped) signals.emit('stopRequested', { thread, cycle, by })
  for (const thread of done.threads) signals.emit('posted', { thread })
}

/** Ends the session before the batch, which has the thread's newest seq; the window begins at the batch. */
export async function startFresh(
  deps: Pick<RuntimeDeps, 'model' | 'toldTools'>,
  tx: Tx,
  { agent, row, now }: { agent: RuntimeAgent; row: ThreadRow; now: number },
): Promise<void> {
  const last = row.last_seq - 1
  if (last >= row.window_start) {
    const entries = await readWindow(deps, tx, { ...row, last_seq: last }, agent)
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
      summary: printSummary(extractSummary(earlier, { entries, open: [] }, tokens)),
      summary_by: 'extract',
      head: null,
    })
  }
  await moveWindow(tx, row.id, row.last_seq)
  await dropUnanswered(tx, { thread: row.id })
  deps.toldTools.renew(row.id)
}
