import { dayOf } from '../../core/clock.ts'
import type { Model, ModelRequest } from '../../core/model.ts'
import type { HistoryEntry } from '../../store/history.ts'
import type { InboxItem } from '../../store/inbox.ts'
import { addUsage } from '../../store/usage.ts'
import type { Tx } from '../../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { toPreamble } from '../prompt.ts'
import { userMessages } from '../reply.ts'
import type { Account } from './account.ts'
import { mayShrinkTo, tokensInForce } from './cycle-tokens.ts'
import { type Bound, decideReservation, type PlannedCall } from './decide-reservation.ts'
import { toLimitReached, toWakesReached } from './limit-reached.ts'
import { type Reservation, untilReleased } from './meter.ts'
import { estimateInput, toMicros } from './prices.ts'

const MILLION = 1_000_000

/** Thrown if the first call of a cycle may fit into the budget once other calls have ended. */
export class BudgetBusy extends Error {}

type Deps = Pick<
  RuntimeDeps,
  'clock' | 'timezone' | 'meter' | 'budget' | 'model' | 'toolBox' | 'tokens' | 'toolLists'
>

/** Returns today in the zone of the config, once the meter has opened it. */
export async function openToday({ clock, timezone, meter }: Pick<Deps, 'clock' | 'timezone' | 'meter'>) {
  const day = dayOf(clock.now(), timezone)
  await meter.open(day)
  return day
}

/** Returns an agent's limits of a day, with what counts against each. The meter must have opened the day. */
function dayBounds({ meter, budget }: Deps, { name, limits }: RuntimeAgent, day: string): Bound[] {
  const { tokensPerDay, moneyPerDay } = budget()
  const bound = (key: Bound['key'], unit: Bound['unit'], value: number | undefined, agent?: string) => {
    if (value === undefined) return []
    const spent = meter.spent(day, agent)[unit]
    const reserved = meter.reserved(day, agent)[unit]
    return [{ key, unit, value: unit === 'micros' ? Math.round(value * MILLION) : value, spent, reserved }]
  }
  return [
    ...bound('limits.tokensPerDay', 'tokens', limits.tokensPerDay, name),
    ...bound('limits.moneyPerDay', 'micros', limits.moneyPerDay, name),
    ...bound('budget.tokensPerDay', 'tokens', tokensPerDay),
    ...bound('budget.moneyPerDay', 'micros', moneyPerDay),
  ]
}

function cycleBounds(deps: Deps, { agent, tokens }: Account): Bound[] {
  const value = tokensInForce(deps, agent)
  if (value === undefined) return []
  return [{ key: 'limits.tokens', unit: 'tokens', value, spent: tokens, reserved: 0 }]
}

function toReservation(
  day: string,
  agent: string,
  { input, maxOutput, price }: PlannedCall,
  wakes = 0,
): Reservation {
  const micros = toMicros({ input, output: maxOutput, cachedInput: 0 }, price)
  return { day, agent, tokens: input + maxOutput, micros, wakes }
}

/** A request that a budget has room for, with its estimated tokens. Its longest reply may be shorter. */
export interface Reserved {
  request: ModelRequest
  input: number
  reservation: Reservation
}

/**
 * Reserves the budget of a call, in place of that for the first call of its cycle, and waits while other calls
 * use what is left. Throws LimitReached if the call fits no budget.
 */
export async function reserveCall(
  deps: Deps,
  account: Account,
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Reserved> {
  const { agent } = account
  const input = estimateInput(deps.tokens, model.name, request)
  const call = { input, maxOutput: request.maxOutput, price: deps.budget().dearest ?? model.price }
  for (;;) {
    const day = await openToday(deps)
    deps.meter.release(account.reservation)
    const { released } = deps.meter
    const decision = decideReservation([...cycleBounds(deps, account), ...dayBounds(deps, agent, day)], call)
    if (decision.kind === 'full') throw toLimitReached(deps, agent, decision.bound, call)
    if (decision.kind === 'fits') {
      const { maxOutput } = decision
      const reservation = toReservation(day, agent.name, { ...call, maxOutput })
      deps.meter.reserve(reservation)
      return { request: { ...request, maxOutput }, input, reservation }
    }
    await untilReleased(released, signal)
  }
}

/**
 * Reserves the budget of a cycle's first call, within the transaction that begins the cycle. Throws
 * LimitReached if a day is used up, so that the transaction is undone and everything waits in the inbox;
 * BudgetBusy if that may change.
 */
export async function reserveStart(
  deps: Deps,
  tx: Tx,
  start: {
    agent: RuntimeAgent
    thread: string
    day: string
    items: readonly InboxItem[]
    /** The window with the batch. */
    window: readonly HistoryEntry[]
  },
): Promise<Reservation> {
  const { agent, thread, day, items, window } = start
  const wakes = userMessages(items).length === 0 ? 1 : 0
  if (wakes > 0) {
    const { wakesPerDay } = agent.limits
    const woken = deps.meter.spent(day, agent.name).wakes + deps.meter.reserved(day, agent.name).wakes
    if (wakesPerDay !== undefined && woken >= wakesPerDay) throw toWakesReached(deps, agent, woken)
    await addUsage(tx, { day, agent: agent.name, tokens: 0, cost_micros: 0, wakes })
  }
  const model = deps.model(agent.model)
  const call = {
    input: deps.tokens.count(model.name, toPreamble(deps, { agent, thread }), window, undefined),
    maxOutput: model.maxOutput,
    price: deps.budget().dearest ?? model.price,
  }
  const bounds = dayBounds(deps, agent, day)
  const decision = decideReservation(bounds, shrunk(deps, agent, bounds, call))
  if (decision.kind === 'full') throw toLimitReached(deps, agent, decision.bound, call)
  if (decision.kind === 'wait') throw new BudgetBusy('Others use what is left of the day')
  const reservation = toReservation(day, agent.name, { ...call, maxOutput: decision.maxOutput }, wakes)
  deps.meter.reserve(reservation)
  return reservation
}

/** Returns the call, with a shorter input if its window fits no day at all: its cycle shortens the window. */
function shrunk(deps: Deps, agent: RuntimeAgent, bounds: Bound[], call: PlannedCall): PlannedCall {
  const decision = decideReservation(bounds, call)
  const input = decision.kind === 'full' ? toLimitReached(deps, agent, decision.bound, call).fits : undefined
  return input !== undefined && mayShrinkTo(deps, agent, input) ? { ...call, input } : call
}
