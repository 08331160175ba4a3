import type { Database } from 'better-sqlite3'
import { withoutButtonKeys } from '../../../schemas/message-buttons.ts'
import { type Clock, unlessAborted } from '../../kit/clock.ts'
import { describeError, type Log } from '../../kit/log.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'
import type { Sender } from '../channels/channel.ts'
import type { Delivered, Earlier, Outgoing } from '../message.ts'
import type { Claim } from './claim.ts'
import { decideOutcome } from './decide-outcome.ts'
import { toDigestNotes, toOutgoing } from './digest.ts'
import { finishFailed, finishSent } from './finish.ts'

export interface DeliverDeps {
  database: Database
  clock: Clock
  log: Log
  random: () => number
  timezone: string
}

/** What is noted where the channel is of another kind now, which replaces nothing. */
const STAYS: Delivered = { upstreamId: undefined, notes: ['the earlier message stays'] }

/**
 * Tries a claim once, and commits its outcome; none if the signal aborts, since the next start takes it up.
 * Rejects only if that commit fails.
 */
export async function deliver(
  deps: DeliverDeps,
  sender: Sender,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock, log } = deps
  const { rows } = claim
  const [first] = rows
  if (first === undefined) return
  const message = toOutgoing(rows, deps.timezone, claim.isDoubtful)
  const tried = await attempt(deps, sender, { message, earlier: claim.earlier }, signal)
  const now = clock.now()
  if ('delivered' in tried) {
    const { delivered } = tried
    const notes = [...delivered.notes, ...toDigestNotes(rows)]
    return finishSent(database, rows, { ...delivered, notes }, now)
  }
  const { error } = tried
  if (signal.aborted && !(error instanceof UpstreamFailure)) return
  const facts = { now, triedAt: first.tried_at ?? now, attempts: first.attempts, random: deps.random() }
  const outcome = decideOutcome(error, facts)
  log('warn', 'notification not sent', {
    channel: first.channel,
    again: outcome.kind === 'retry',
    error: withoutButtonKeys(describeError(error)),
  })
  finishFailed(database, rows, outcome, now)
}

/**
 * Sends the message. Its catch excludes the database's errors, so that a message that arrived is never called
 * failed.
 */
async function attempt(
  deps: DeliverDeps,
  sender: Sender,
  { message, earlier }: { message: Outgoing; earlier: Earlier | undefined },
  signal: AbortSignal,
): Promise<{ delivered: Delivered } | { error: unknown }> {
  try {
    if (earlier) {
      const replacing = sender.replace?.(earlier, { ...message, isDoubtful: false }, signal)
      return { delivered: replacing ? await unlessAborted(replacing, signal) : STAYS }
    }
    const found = await findArrived(deps, sender, message, signal)
    const send = () => unlessAborted(sender.send(withDoubt(message, sender, deps.clock), signal), signal)
    return { delivered: found ?? (await send()) }
  } catch (error) {
    return { error }
  }
}

/** Asks the upstream for a message whose outcome is unknown. An upstream that cannot tell is no failure. */
async function findArrived(
  { database, log }: DeliverDeps,
  sender: Sender,
  message: Outgoing,
  signal: AbortSignal,
): Promise<Delivered | undefined> {
  if (!message.isDoubtful || !sender.find) return undefined
  const isKnown = (upstreamId: string) =>
    database.prepare('select 1 from messages where upstream_id = ?').get(upstreamId) !== undefined
  try {
    return await unlessAborted(sender.find(message, isKnown, signal), signal)
  } catch (error) {
    signal.throwIfAborted()
    log('warn', 'notification not looked for', { error: describeError(error) })
    return undefined
  }
}

/** Marks the message as doubtful, unless the upstream recognises the repeated id. */
function withDoubt(message: Outgoing, { knowsRepeatsFor = 0 }: Sender, clock: Clock): Outgoing {
  const age = clock.now() - (message.triedAt ?? clock.now())
  return { ...message, isDoubtful: message.isDoubtful && age > knowsRepeatsFor }
}
