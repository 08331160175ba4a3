import { releasingWrite } from '../store/history.ts'
import { waitingItems } from '../store/inbox.ts'
import { parkCycle } from '../store/parked.ts'
import type { Claim } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { placesToTell } from './finish.ts'
import { announceHeld, tellHeld } from './limits/hold.ts'
import type { LimitReached } from './limits/limit-reached.ts'
import { userMessages } from './reply.ts'

/**
 * Suspends a cycle in which a budget of the day is used up. It goes on from the same point once the limit
 * allows that, so that what people asked is answered then. They are told once in each conversation and day.
 */
export async function holdCycle(
  deps: RuntimeDeps,
  claim: Claim,
  limit: LimitReached,
  until: number,
): Promise<void> {
  const { agent, thread, cycle } = claim
  const now = deps.clock.now()
  const { messages, held } = await deps.store.write(async tx => {
    await releasingWrite(tx, claim, 0, now)
    await parkCycle(tx, { thread, cycle, until, why: { note: limit.message } })
    const waiting = [...userMessages(claim.items), ...userMessages(await waitingItems(tx, thread))]
    const places = await placesToTell(tx, claim)
    return { messages: await tellHeld(deps, tx, { agent, limit, waiting, places, cycle }), held: waiting }
  })
  claim.outcome = 'held'
  announceHeld(deps, { agent, thread, limit, messages, held })
  deps.signals.emit('dueTimesChanged', { why: 'held' })
}
