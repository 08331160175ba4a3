import type { TraceContext } from '../../../schemas/trace.ts'
import { HubError } from '../../core/errors.ts'
import { type Begun, type Model, ModelError, type ModelReply, type ModelRequest } from '../../core/model.ts'
import { countCall, type Usage } from '../../store/cycles.ts'
import { addUsage } from '../../store/usage.ts'
import type { Tx } from '../../store/writer.ts'
import type { ActiveCycle } from '../active-cycle.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import type { Semaphore } from '../semaphore.ts'
import { estimateTokens } from '../tokens.ts'
import type { Meter, Reservation } from './meter.ts'
import { boundUsage, toBudgetTokens, toMicros, toUsage, writtenOf } from './prices.ts'
import { openToday, type Reserved, reserveCall } from './reserve.ts'

/** Usage of a call that was made, until it is written down. */
export interface Unpaid extends Usage {
  reservation: Reservation
}

/** What a cycle, or an approved call in its name, spends on calls of the model. */
export interface Account {
  /** The budget owner. */
  agent: RuntimeAgent
  /** The cycle that the usage is written down with. */
  cycle: string
  /** Tokens that were used so far. */
  tokens: number
  /** The reservation for the first call of the cycle, until that is made. */
  reservation?: Reservation | undefined
  /** Usage of a call of the model that is not written down yet. */
  unpaid?: Unpaid | undefined
  /** Text that the last call which was cut had streamed. */
  cutText: string
  /** Trace that the calls belong to. */
  trace?: TraceContext | undefined
  /** Lets servers use the model one after the other, so that each use is paid before the next. */
  sampling?: Semaphore
}

type Deps = Parameters<typeof reserveCall>[0] & Pick<RuntimeDeps, 'log' | 'store' | 'telemetry'>

interface Call {
  model: Model
  request: ModelRequest
  signal: AbortSignal
  /** Gets the text that people see; missing if nobody does. */
  onText?: ((text: string) => void) | undefined
}

/**
 * Asks the model under the limits of the cycle: its estimate and its longest reply are reserved before, and
 * LimitReached is thrown if they fit no limit. A reply's usage is in `account.unpaid` until `writeUsage` is part
 * of a commit and `settleUsage` follows it; a call that gave no reply is charged at once.
 */
export async function completeMetered(deps: Deps, cycle: ActiveCycle, call: Call): Promise<ModelReply> {
  const { account } = cycle
  const { model, signal } = call
  await chargeNow(deps, cycle)
  account.cutText = ''
  const reserved = await reserveCall(deps, account, model, call.request, signal)
  const { reply, error, usage, streamed } = await measure(deps, account, call, reserved)
  // A call that the hub's own end cuts is charged when its cycle goes on, like one that a crash cut.
  if (!usage || (!reply && signal.aborted && signal.reason instanceof HubError)) {
    deps.meter.release(reserved.reservation)
    throw error
  }
  account.unpaid = { ...usage, reservation: reserved.reservation }
  if (reply) return reply
  if (call.onText) account.cutText = streamed
  await chargeNow(deps, cycle)
  throw error
}

type Attempted = { streamed: string } & (
  | { reply: ModelReply; usage: Usage; error?: undefined }
  /** `usage` is set if the provider may have begun to answer: it bills that. */
  | { reply?: undefined; usage: Usage | undefined; error: unknown }
)

/** Makes an attempt, and reports it. */
async function measure(
  deps: Deps,
  { agent, cycle, trace }: Account,
  call: Call,
  reserved: Reserved,
): Promise<Attempted> {
  const { model, signal } = call
  const facts = { agent: agent.name, cycle, model: model.name, request: reserved.request }
  const span = deps.telemetry.begin('model', facts, trace)
  const attempted = await attempt(deps, call, reserved)
  const { reply, usage, error } = attempted
  const { currency } = reply?.by?.price ?? model.price ?? {}
  const outcome = reply ? 'ok' : error instanceof ModelError ? error.kind : signal.aborted ? 'cut' : 'error'
  span.end(outcome, { spending: usage && { ...usage, currency }, reply })
  return attempted
}

async function attempt(
  { log, store }: Pick<Deps, 'log' | 'store'>,
  { model, signal, onText }: Call,
  { request, input }: Reserved,
): Promise<Attempted> {
  let streamed = ''
  let cut: Begun | undefined
  const { maxOutput } = request
  try {
    await store.confirm()
    const reply = await model.complete(request, {
      signal,
      onText(text) {
        streamed += text
        onText?.(text)
      },
      onCut(begun) {
        cut = begun
      },
    })
    const usage = reply.usage && boundUsage(reply.usage, { input, maxOutput, written: writtenOf(reply) })
    if (usage?.input !== reply.usage?.input || usage?.output !== reply.usage?.output)
      log.warn('usage_not_believed', { model: model.name, said: reply.usage, counted: usage })
    const bounded = usage ? { ...reply, usage } : reply
    return { reply: bounded, usage: toUsage(bounded, input, model.price), streamed }
  } catch (error) {
    const begun = error instanceof ModelError ? error.begun : undefined
    const isBroken = error instanceof ModelError && error.kind === 'broken_stream'
    if (!begun && !isBroken && !signal.aborted) return { error, usage: undefined, streamed }
    const written = begun?.written ?? cut?.written ?? streamed
    const usage = begun?.usage
      ? boundUsage(begun.usage, { input, maxOutput, written })
      : { input, output: estimateTokens(written), cachedInput: 0 }
    return { error, usage: priced(usage, model), streamed }
  }
}

function priced(usage: Omit<Usage, 'costMicros'>, { price }: Model): Usage {
  return { ...usage, costMicros: toMicros(usage, price) }
}

/** Counts the tokens and the money of the unpaid call for the agent's day. Call `settleUsage` after the commit. */
export async function writeUsage(tx: Tx, { unpaid }: Account): Promise<void> {
  if (unpaid) await addUsage(tx, toUsageDay(unpaid))
}

/** Counts the usage that was written, and releases its reservation. */
export function settleUsage(meter: Meter, account: Account): void {
  const { unpaid } = account
  account.unpaid = undefined
  if (!unpaid) return
  account.tokens += toBudgetTokens(unpaid)
  meter.spend(toUsageDay(unpaid))
  meter.release(unpaid.reservation)
}

function toUsageDay({ reservation, costMicros, ...usage }: Unpaid) {
  const { day, agent } = reservation
  return { day, agent, tokens: toBudgetTokens(usage), cost_micros: costMicros, wakes: 0 }
}

/** Writes down the usage of a call that made no step, in a commit of its own. */
export async function chargeNow({ meter }: Pick<Deps, 'meter'>, cycle: ActiveCycle): Promise<void> {
  const { account } = cycle
  const { unpaid } = account
  if (!unpaid) return
  await cycle.commit(async ({ tx }) => {
    await countCall(tx, cycle.id, unpaid)
    await writeUsage(tx, account)
  })
  settleUsage(meter, account)
}

/** Charges a resumed cycle the estimate of a call: nobody knows whether it was cut during one. */
export async function chargeCut(deps: Deps, cycle: ActiveCycle): Promise<void> {
  const model = cycle.model()
  if (model.isFree) return
  const day = await openToday(deps)
  const usage = { input: cycle.countRequest(model), output: model.maxOutput, cachedInput: 0 }
  const reservation = { day, agent: cycle.agent.name, tokens: 0, micros: 0, wakes: 0 }
  cycle.account.unpaid = { ...priced(usage, model), reservation }
  await chargeNow(deps, cycle)
}

/** Releases what the cycle reserved, and unless the hub ends charges what it used, whichever way it went. */
export async function closeAccount(
  deps: Pick<Deps, 'meter' | 'log'>,
  cycle: ActiveCycle,
  stopping: AbortSignal,
): Promise<void> {
  const { reservation, unpaid } = cycle.account
  deps.meter.release(reservation)
  try {
    if (!stopping.aborted) await chargeNow(deps, cycle)
  } catch (error) {
    // The process that took the thread over charges the call that it found cut.
    deps.log.warn('usage_not_written', { cycle: cycle.id, error })
  } finally {
    deps.meter.release(unpaid?.reservation)
  }
}

/**
 * Makes one call of the model beside a cycle's steps, under the same limits. Its estimate is charged before
 * it is made, so that a crash cannot lose it, and the difference afterwards; one call at a time for each
 * cycle. Throws LimitReached, and what the model throws.
 */
export async function completeApart(
  deps: Deps & Pick<RuntimeDeps, 'store'>,
  account: Account,
  guard: (tx: Tx) => Promise<void>,
  call: Call,
): Promise<ModelReply> {
  const { model } = call
  const reserved = await reserveCall(deps, account, model, call.request, call.signal)
  const { reservation, request, input } = reserved
  let charged = priced(NO_TOKENS, model)
  const charge = async (usage: Usage) => {
    const more = subtract(usage, charged)
    await deps.store.write(async tx => {
      await guard(tx)
      await countCall(tx, account.cycle, more)
      await addUsage(tx, toUsageDay({ ...more, reservation }))
    })
    charged = usage
  }
  try {
    await charge(priced({ input, output: request.maxOutput, cachedInput: 0 }, model))
    const { reply, error, usage } = await measure(deps, account, call, reserved)
    await charge(usage ?? priced(NO_TOKENS, model))
    if (!reply) throw error
    return reply
  } finally {
    account.tokens += toBudgetTokens(charged)
    deps.meter.spend(toUsageDay({ ...charged, reservation }))
    deps.meter.release(reservation)
  }
}

const NO_TOKENS = { input: 0, output: 0, cachedInput: 0 }

function subtract(usage: Usage, charged: Usage): Usage {
  return {
    input: usage.input - charged.input,
    output: usage.output - charged.output,
    cachedInput: usage.cachedInput - charged.cachedInput,
    costMicros: usage.costMicros - charged.costMicros,
  }
}
