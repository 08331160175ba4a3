import type { ChatMessage } from '../../schemas/chat.ts'
import { messagesOfCycle } from '../store/conversations.ts'
import { endCycle } from '../store/cycles.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { releaseThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'
import { questionsOf, toUnanswered } from './batch.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { findUnanswered, type Unanswered, userMessages } from './reply.ts'
import { tell } from './tell.ts'

/**
 * How a cycle ends: with a final text (empty for silence), after which conversations that got nothing are asked about;
 * or by an ending tool, after which they get its notice.
 */
export type Ending = { kind: 'final'; text: string } | { kind: 'tool'; text: string; notice: string }

export interface Ended {
  /** The cycle goes on with one more step, for a conversation that got nothing. */
  goesOn: boolean
  messages: (ChatMessage | undefined)[]
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
    if (next) {
      await askAbout(deps, tx, claim, next)
      return { goesOn: true, messages }
    }
  } else {
    for (const { conversation } of unanswered) {
      messages.push(await tell(deps, tx, claim, { kind: 'notice', text: ending.notice, conversation }))
    }
  }
  await close(deps, tx, claim)
  return { goesOn: false, messages }
}

/** The cycle failed, or a limit stopped it: it says so and the thread sleeps; its history stays. */
export async function fail(
  deps: RuntimeDeps,
  tx: Tx,
  claim: Claim,
  failure: { kind: 'error' | 'notice'; text: string; data?: Record<string, unknown> },
) {
  await fencedWrite(tx, claim, 0, 0, deps.clock.now())
  const message = await tell(deps, tx, claim, failure)
  const now = deps.clock.now()
  await endCycle(tx, claim.cycle, { status: 'failed', at: now, note: failure.text })
  await releaseThread(tx, claim.thread, claim.fence, now)
  return message
}

async function close(deps: RuntimeDeps, tx: Tx, claim: Claim): Promise<void> {
  const now = deps.clock.now()
  await endCycle(tx, claim.cycle, { status: 'done', at: now })
  await releaseThread(tx, claim.thread, claim.fence, now)
}

async function readUnanswered(tx: Tx, claim: Claim, ending: Ending): Promise<Unanswered[]> {
  const mayWait = userMessages(claim.items).some(({ conversation }) => conversation !== claim.replyTo)
  if (!mayWait && (ending.kind === 'final' || ending.text.trim() !== '')) return []
  const sent = await messagesOfCycle(tx, claim.cycle)
  const answers = sent.filter(message => message.kind === 'agent')
  return findUnanswered(claim.items, new Set(answers.map(message => message.conversation)))
}

/** The conversation that the final text was for, and those that were asked about before it. */
function askedAbout(claim: Claim): Set<string | null> {
  return new Set([claim.replyTo, ...questionsOf(claim.window)])
}

async function askAbout(deps: RuntimeDeps, tx: Tx, claim: Claim, next: Unanswered) {
  const now = deps.clock.now()
  const lastSeq = await fencedWrite(tx, claim, 1, now + LEASE_MS, now)
  const question = toUnanswered(next.conversation, next.texts, now)
  claim.window.push(...(await appendHistory(tx, claim, lastSeq, claim.steps, [question], now)))
  claim.target = next.conversation
}
