import type { ChatMessage } from '../../schemas/chat.ts'
import { toLocal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { ModelError } from '../core/model.ts'
import { toSentence } from '../core/text.ts'
import { fencedWrite, releasingWrite } from '../store/history.ts'
import { parkCycle, unparkCycle } from '../store/parked.ts'
import type { Tx } from '../store/writer.ts'
import { bury, toDeath } from './bury.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { placesToTell } from './finish.ts'
import { publish, tell } from './tell.ts'

/** Milliseconds that a cycle waits for its provider before it becomes a dead letter. */
export const LONGEST_PARKED_MS = 24 * 60 * 60_000
/** Milliseconds until the next try if nothing says when to try again. */
export const TRY_AGAIN_MS = 30_000

/**
 * Suspends a cycle whose provider cannot be reached, until it may be tried again. Its thread is free of a
 * lease, and everyone who waits is told once. After a day the cycle becomes a dead letter.
 */
export async function park(deps: RuntimeDeps, claim: Claim, error: ModelError): Promise<void> {
  const now = deps.clock.now()
  const since = claim.parkedAt ?? now
  if (now - since >= LONGEST_PARKED_MS) return bury(deps, claim, toDeath(error))
  const asked = deps.model(claim.agent.model).health?.retryAt() ?? now + TRY_AGAIN_MS
  const retryAt = Math.min(Math.max(asked, now + 1), since + LONGEST_PARKED_MS)
  const isNew = claim.parkedAt === null
  const messages = await deps.store.write(async tx => {
    await releasingWrite(tx, claim, 0, now)
    await parkCycle(tx, {
      thread: claim.thread,
      cycle: claim.cycle,
      until: retryAt,
      why: { parkedAt: now },
    })
    return isNew ? tellEach(deps, tx, claim, toNotice(deps, claim, error, retryAt)) : []
  })
  claim.outcome = 'parked'
  const where = { cycle: claim.cycle, thread: claim.thread }
  if (isNew) deps.log.warn('cycle_parked', { ...where, error, retryAt })
  publish(deps, messages)
  deps.signals.emit('dueTimesChanged', { why: 'parked' })
}

function toNotice(deps: RuntimeDeps, claim: Claim, error: ModelError, retryAt: number) {
  const text = `${toSentence(describeError(error))} ${describeWait(deps, retryAt)}`
  const attempt = claim.failures ?? 1
  return {
    kind: 'error' as const,
    text,
    data: { attempt, of: attempt, retryAt, retryable: true, parked: true },
  }
}

function describeWait(deps: RuntimeDeps, retryAt: number): string {
  return `I wait and go on by myself once it answers; the next try is at ${toLocal(retryAt, deps.timezone)}. After 24 hours this goes to the dead letters.`
}

async function tellEach(deps: RuntimeDeps, tx: Tx, claim: Claim, what: Parameters<typeof tell>[3]) {
  const told: (ChatMessage | undefined)[] = []
  for (const conversation of await placesToTell(tx, claim)) {
    told.push(await tell(deps, tx, claim, { ...what, conversation }))
  }
  return told
}

/** Ends the cycle's wait for its provider, which answered, and tells people who read of the failure. */
export async function tellRecovered(deps: RuntimeDeps, claim: Claim): Promise<void> {
  if (claim.parkedAt === null && !claim.toldFailure) return
  const messages = await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    if (claim.parkedAt !== null) await unparkCycle(tx, claim.cycle)
    return tellEach(deps, tx, claim, { kind: 'notice', text: 'The model answers again; I go on.' })
  })
  claim.parkedAt = null
  claim.toldFailure = false
  publish(deps, messages)
}
