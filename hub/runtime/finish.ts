import type { ChatMessage } from '../../schemas/chat.ts'
import { messagesOfCycle } from '../store/conversations.ts'
import { endCycle } from '../store/cycles.ts'
import { appendHistory, fencedWrite, type HistoryEntry } from '../store/history.ts'
import { releaseThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { questionsOf, toUnanswered } from './batch.ts'
import { cutCalls, showCall } from './calls.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { findUnanswered, type Unanswered, userMessages } from './reply.ts'
import { publish, tell } from './tell.ts'
import { hasOpenCalls } from './window.ts'

/**
 * How a cycle ends: with a final text (empty for silence), after which conversations that got nothing are asked about;
 * or by an ending tool, after which they get its notice.
 */
export type Ending =
  | { kind: 'final'; text: string; step: number }
  | { kind: 'tool'; text: string; notice: string }

export interface Ended {
  messages: (ChatMessage | undefined)[]
  /** With it the cycle goes on for one more step, for a conversation that got nothing. */
  question: { conversation: string; entries: HistoryEntry[] } | undefined
}

/** Ends a cycle within the transaction that holds its last step: the reply, and the thread free again. */
export async function finish(deps: RuntimeDeps, tx: Tx, claim: Claim, ending: Ending): Promise<Ended> {
  const messages: Ended['messages'] = []
  if (ending.text.trim() !== '')
    messages.push(await tell(deps, tx, claim, { kind: 'agent', text: ending.text }))
  const unanswered = await readUnanswered(tx, claim, ending)
  if (ending.kind === 'final') {
    const asked = askedAbout(claim)
    const next = unanswered.find(({ conversation }) => !asked.has(conversation))
    if (next) return { messages, question: await askAbout(deps, tx, claim, next, ending.step) }
  } else {
    for (const { conversation } of unanswered) {
      messages.push(await tell(deps, tx, claim, { kind: 'notice', text: ending.notice, conversation }))
    }
  }
  const now = deps.clock.now()
  await endCycle(tx, claim.cycle, { status: 'done', at: now })
  await releaseThread(tx, claim.thread, claim.fence, now)
  return { messages, question: undefined }
}

/** Takes over what `finish` committed, and publishes what it said. */
export function settle(deps: RuntimeDeps, claim: Claim, ended: Ended): 'think' | 'ended' {
  publish(deps, ended.messages)
  if (!ended.question) return 'ended'
  claim.window.push(...ended.question.entries)
  claim.target = ended.question.conversation
  return 'think'
}

export interface Failure {
  kind: 'error' | 'notice'
  text: string
  data?: Record<string, unknown>
}

/**
 * The cycle failed, or a limit stopped it: every call gets its result, everyone who waits is told, and the thread
 * sleeps; its history stays.
 */
export async function fail(deps: RuntimeDeps, claim: Claim, failure: Failure): Promise<void> {
  const { calls, messages } = await deps.store.write(async tx => {
    const open = hasOpenCalls(claim.window) ? await cutCalls(deps, tx, claim) : undefined
    const contents = open?.contents ?? []
    const now = deps.clock.now()
    const lastSeq = await fencedWrite(tx, claim, contents.length, now + LEASE_MS, now)
    await appendHistory(tx, claim, lastSeq, claim.steps, contents, now)
    const told: Ended['messages'] = []
    for (const conversation of await placesToTell(tx, claim)) {
      told.push(await tell(deps, tx, claim, { ...failure, conversation }))
    }
    await endCycle(tx, claim.cycle, { status: 'failed', at: now, note: failure.text })
    await releaseThread(tx, claim.thread, claim.fence, now)
    return { calls: open?.cut ?? [], messages: [...(open?.messages ?? []), ...told] }
  })
  for (const { row, status, outcome } of calls) showCall(deps, claim, row, status, outcome.text)
  publish(deps, messages)
}

/** A failure is told where the reply was to go, in every conversation that waits, and never nowhere. */
async function placesToTell(tx: Tx, claim: Claim): Promise<Set<string>> {
  const place = claim.target ?? claim.agent.conversations[0]
  const unanswered = findUnanswered(claim.items, await answeredConversations(tx, claim))
  return new Set([...(place === undefined ? [] : [place]), ...unanswered.map(each => each.conversation)])
}

async function readUnanswered(tx: Tx, claim: Claim, ending: Ending): Promise<Unanswered[]> {
  const mayWait = userMessages(claim.items).some(({ conversation }) => conversation !== claim.replyTo)
  if (!mayWait && (ending.kind === 'final' || ending.text.trim() !== '')) return []
  return findUnanswered(claim.items, await answeredConversations(tx, claim))
}

async function answeredConversations(tx: Tx, claim: Claim): Promise<Set<string>> {
  const sent = await messagesOfCycle(tx, claim.cycle)
  return new Set(sent.filter(message => message.kind === 'agent').map(message => message.conversation))
}

/** The conversation that the final text was for, and those that were asked about before it. */
function askedAbout(claim: Claim): Set<string | null> {
  return new Set([claim.replyTo, ...questionsOf(claim.window)])
}

async function askAbout(deps: RuntimeDeps, tx: Tx, claim: Claim, next: Unanswered, step: number) {
  const now = deps.clock.now()
  const lastSeq = await fencedWrite(tx, claim, 1, now + LEASE_MS, now)
  const question = toUnanswered(next.conversation, next.texts, now)
  const entries = await appendHistory(tx, claim, lastSeq, step, [question], now)
  return { conversation: next.conversation, entries }
}
