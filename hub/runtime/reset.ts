import type { ChatMessage, NewUserMessage } from '../../schemas/chat.ts'
import { HubError } from '../core/errors.ts'
import { record } from '../store/audit-log.ts'
import { appendMessage } from '../store/conversations.ts'
import { postItem } from '../store/inbox.ts'
import { endSession, newestSession } from '../store/sessions.ts'
import { requestStops, type StoppedCycle } from '../store/stops.ts'
import type { ThreadRow } from '../store/tables.ts'
import { ensureMainThread, moveWindow } from '../store/threads.ts'
import { dropUnanswered } from '../store/unanswered.ts'
import type { Tx } from '../store/writer.ts'
import { decideCommand } from './commands.ts'
import type { RuntimeAgent, RuntimeDeps } from './deps.ts'
import { extractSummary, parseSummary, printSummary } from './summary.ts'
import { tokensOfAll } from './tokens.ts'
import { appendUserMessage } from './user-message.ts'
import { readWindow } from './window.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'clock' | 'newId' | 'signals'>

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

export function createReset(
  deps: Deps & { agents: () => readonly { name: string; conversations: readonly string[] }[] },
): Reset {
  return async ({ agent, by, message, conversation }) => {
    const agents = deps.agents()
    const known = agents.find(each => each.name === agent)
    if (!known) {
      const names = agents.map(each => each.name).join(', ') || 'none'
      throw new HubError('not_found', `There is no agent ${agent}; agents: ${names}`)
    }
    const place = conversation ?? known.conversations[0] ?? agent
    emitReset(
      deps,
      await deps.store.write(tx => writeReset(deps, tx, { agents: [agent], by, message, place })),
    )
    return { conversation: place }
  }
}

/** Tells whether a message is `/new topic`: the cycle that takes it starts from summaries of what was before. */
export function beginsTopic(text: string): boolean {
  return decideCommand(text).kind === 'topic'
}

/**
 * Handles `/reset` in a conversation: it stands there as the user's message, and its agents start fresh and
 * are told why. The same `clientId` again does nothing.
 */
export async function resetByMessage(
  deps: Deps,
  agents: readonly string[],
  message: NewUserMessage,
  why: string | undefined,
): Promise<ChatMessage> {
  const { posted, done } = await deps.store.write(async tx => {
    const { posted, isNew } = await appendUserMessage(deps, tx, message)
    if (!isNew) return { posted, done: undefined }
    const done = await writeReset(deps, tx, {
      agents,
      by: message.author,
      message: why,
      place: message.conversation,
      inReplyTo: posted.id,
    })
    const { author: actor, door, conversation } = message
    const details = { conversation, agents, cycles: done.stopped.map(({ cycle }) => cycle) }
    await record(tx, { at: posted.at, kind: 'reset', actor, door, outcome: 'ok', details })
    return { posted, done: { ...done, messages: [posted, ...done.messages] } }
  })
  if (done) emitReset(deps, done)
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
  by: string
  threads: string[]
  messages: ChatMessage[]
  stopped: StoppedCycle[]
}

async function writeReset(
  { clock, newId }: Pick<Deps, 'clock' | 'newId'>,
  tx: Tx,
  { agents, by, message, place, inReplyTo }: Resetting,
): Promise<ResetDone> {
  const at = clock.now()
  const threads: string[] = []
  const messages: ChatMessage[] = []
  for (const agent of agents) {
    const thread = await ensureMainThread(tx, agent, at)
    const payload = { kind: 'reset' as const, by, ...(message ? { message } : {}) }
    await postItem(tx, { thread, source: 'reset', externalId: newId('rst'), payload, power: 'person', at })
    const text = `${agent} starts fresh, as ${by} asked${message ? `: ${message}` : '.'}\nStored context, schedules and tasks stay; what was said before is found with search.`
    const notice = { id: newId('msg'), conversation: place, kind: 'notice' as const, author: agent, text, at }
    messages.push(await appendMessage(tx, { ...notice, ...(inReplyTo ? { inReplyTo: [inReplyTo] } : {}) }))
    threads.push(thread)
  }
  return { by, threads, messages, stopped: await requestStops(tx, { threads }, by) }
}

function emitReset({ signals }: Pick<Deps, 'signals'>, { by, threads, messages, stopped }: ResetDone): void {
  for (const message of messages) signals.emit('message', message)
  for (const { thread, cycle } of stopped) signals.emit('stopRequested', { thread, cycle, by })
  for (const thread of threads) signals.emit('posted', { thread })
}

/** Ends the session before the batch, which has the thread's newest seq; the window begins at the batch. */
export async function startFresh(
  deps: Pick<RuntimeDeps, 'model' | 'toolLists'>,
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
  deps.toolLists.renew(row.id)
}
