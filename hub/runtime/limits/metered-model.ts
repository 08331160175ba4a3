import { HubError } from '../../core/errors.ts'
import {
  type Begun,
  type Model,
  ModelError,
  type ModelOptions,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
} from '../../core/model.ts'
import { countCall, type Usage } from '../../store/cycles.ts'
import { fencedWrite } from '../../store/history.ts'
import { addUsage } from '../../store/usage.ts'
import type { Tx } from '../../store/writer.ts'
import { type Claim, LEASE_MS } from '../claim.ts'
import type { RuntimeAgent, RuntimeDeps } from '../deps.ts'
import { toPreamble } from '../prompt.ts'
import { estimateTokens } from '../tokens.ts'
import { dayBounds, openToday } from './bounds.ts'
import { tokensInForce } from './cycle-tokens.ts'
import { toLimitReached } from './limit-reached.ts'
import type { Reservation } from './meter.ts'
import {
  boundUsage,
  type Exchanged,
  estimateInput,
  toBudgetTokens,
  toMicros,
  toUsage,
  writtenOf,
} from './prices.ts'
import { type Bound, decideRoom } from './room.ts'

/** Usage of a call that was made, until it is written down. */
export interface Unpaid extends Usage {
  reservation: Reservation
}

/**
 * Returns the model under the limits of a cycle: before each call its estimate and its longest reply are
 * reserved, and `complete` throws LimitReached if they fit no limit. A reply's usage is in `claim.unpaid`
 * until `writeUsage` is part of a commit and `settle` follows it; a call that gave no reply is paid at once.
 */
export function meterModel(
  deps: RuntimeDeps,
  claim: Claim,
  model: Model,
  audience: 'people' | 'unseen' = 'people',
): Model {
  return {
    ...model,
    async complete(asked, options) {
      await payApart(deps, claim)
      claim.cutText = ''
      const { request, reservation, input } = await reserve(deps, claim, model, asked, options.signal)
      let streamed = ''
      let cut: Begun | undefined
      const onText = (text: string) => {
        streamed += text
        options.onText(text)
      }
      const onCut = (begun: Begun) => {
        cut = begun
      }
      try {
        const reply = await completeBounded(deps, model, request, input, { ...options, onText, onCut })
        claim.unpaid = { ...toUsage(reply, input, model.price), reservation }
        return reply
      } catch (error) {
        if (!mayCost(error, options)) {
          deps.meter.release(reservation)
          throw error
        }
        if (audience === 'people') claim.cutText = streamed
        const written = cut?.written ?? streamed
        const usage = takenBy(error, { input, maxOutput: request.maxOutput, written })
        claim.unpaid = { ...usage, costMicros: toMicros(usage, model.price), reservation }
        await payApart(deps, claim)
        throw error
      }
    },
  }
}

/**
 * Tells whether a failed call may cost something: a provider bills what it began to answer. A call that the
 * hub's own end cuts is charged when its cycle goes on, like one that a crash cut.
 */
function mayCost(error: unknown, { signal }: ModelOptions): boolean {
  if (signal.aborted) return !(signal.reason instanceof HubError)
  return hasBegun(error)
}

function hasBegun(error: unknown): error is ModelError {
  return error instanceof ModelError && (error.kind === 'broken_stream' || error.begun !== undefined)
}

/** Returns the usage of a call that failed: as the provider said, or an estimate. */
function takenBy(error: unknown, { input, maxOutput, written: streamed }: Exchanged): ModelUsage {
  const begun = error instanceof ModelError ? error.begun : undefined
  const written = begun?.written ?? streamed
  if (begun?.usage) return boundUsage(begun.usage, { input, maxOutput, written })
  return { input, output: estimateTokens(written), cachedInput: 0 }
}

/** Asks the model and bounds the usage of its reply, so that limits and token factors can rely on it. */
async function completeBounded(
  { log }: Pick<RuntimeDeps, 'log'>,
  model: Model,
  request: ModelRequest,
  input: number,
  options: ModelOptions,
): Promise<ModelReply> {
  const reply = await model.complete(request, options)
  if (!reply.usage) return reply
  const sent = { input, maxOutput: request.maxOutput, written: writtenOf(reply) }
  const usage = boundUsage(reply.usage, sent)
  const isBelieved = usage.input === reply.usage.input && usage.output === reply.usage.output
  if (!isBelieved) log.warn('usage_not_believed', { model: model.name, said: reply.usage, counted: usage })
  return { ...reply, usage }
}

async function reserve(
  deps: RuntimeDeps,
  claim: Pick<Claim, 'agent' | 'tokens'> & { thread?: string },
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
) {
  const { agent } = claim
  const call = {
    input: estimateInput(deps.tokens, model.name, request),
    maxOutput: request.maxOutput,
    price: deps.budget().dearest ?? model.price,
  }
  for (;;) {
    const day = await openToday(deps)
    if (claim.thread !== undefined) deps.places.leave(claim.thread)
    const room = decideRoom([...cycleBounds(deps, claim), ...dayBounds(deps, agent, day)], call)
    if (room.kind === 'full') throw toLimitReached(deps, agent, room.bound, call)
    if (room.kind === 'fits') {
      const { maxOutput } = room
      const usage = { input: call.input, output: maxOutput, cachedInput: 0 }
      const reservation = {
        day,
        agent: agent.name,
        tokens: call.input + maxOutput,
        micros: toMicros(usage, call.price),
        wakes: 0,
      }
      deps.meter.reserve(reservation)
      return { request: { ...request, maxOutput }, reservation, input: call.input }
    }
    await deps.meter.changed(signal)
  }
}

function cycleBounds(deps: RuntimeDeps, { agent, tokens }: Pick<Claim, 'agent' | 'tokens'>): Bound[] {
  const value = tokensInForce(deps, agent)
  if (value === undefined) return []
  return [{ key: 'limits.tokens', unit: 'tokens', value, spent: tokens, reserved: 0 }]
}

/** Counts the tokens and the money of `claim.unpaid` for the agent's day. Call `settle` after the commit. */
export async function writeUsage(tx: Tx, { unpaid }: Claim): Promise<void> {
  if (!unpaid) return
  await addUsage(tx, toUsageDay(unpaid))
}

/** Counts the usage that was written, and releases its reservation. */
export function settle(deps: RuntimeDeps, claim: Claim): void {
  const { unpaid } = claim
  claim.unpaid = undefined
  if (!unpaid) return
  claim.tokens += toBudgetTokens(unpaid)
  deps.meter.spend(toUsageDay(unpaid))
  deps.meter.release(unpaid.reservation)
}

function toUsageDay({ reservation, costMicros, ...usage }: Unpaid) {
  const { day, agent } = reservation
  return { day, agent, tokens: toBudgetTokens(usage), cost_micros: costMicros, wakes: 0 }
}

/** Writes down the usage of a call that made no step, in a commit of its own. */
export async function payApart(deps: RuntimeDeps, claim: Claim): Promise<void> {
  const { unpaid } = claim
  if (!unpaid) return
  await deps.store.write(async tx => {
    const now = deps.clock.now()
    await fencedWrite(tx, claim, 0, now + LEASE_MS, now)
    await countCall(tx, claim.cycle, unpaid)
    await writeUsage(tx, claim)
  })
  settle(deps, claim)
}

/** The budget owner of a call of the model, and the cycle that the call is written down with. */
export interface Payer {
  agent: RuntimeAgent
  cycle: string
  /** Tokens that the cycle, or a call that runs in its name, used so far. */
  tokens: number
}

/**
 * Makes one call of the model beside a cycle's steps, under the same limits. Its estimate is charged before
 * it is made, so that a crash cannot lose it, and the difference afterwards; one call at a time for each
 * cycle. Throws LimitReached, and what the model throws.
 */
export async function completeApart(
  deps: RuntimeDeps,
  { payer, guard }: { payer: Payer; guard: (tx: Tx) => Promise<void> },
  model: Model,
  asked: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { agent, tokens } = payer
  const { request, reservation, input } = await reserve(deps, { agent, tokens }, model, asked, signal)
  const priced = (usage: Omit<Usage, 'costMicros'>): Usage => {
    return { ...usage, costMicros: toMicros(usage, model.price) }
  }
  let charged: Usage = priced(NO_TOKENS)
  const charge = async (usage: Usage) => {
    const more = subtract(usage, charged)
    await deps.store.write(async tx => {
      await guard(tx)
      await countCall(tx, payer.cycle, more)
      await addUsage(tx, toUsageDay({ ...more, reservation }))
    })
    charged = usage
  }
  try {
    await charge(priced({ input, output: request.maxOutput, cachedInput: 0 }))
    const { taken, reply, error } = await attempt(deps, model, request, input, signal)
    await charge(reply ? toUsage(reply, input, model.price) : priced(taken ?? NO_TOKENS))
    if (!reply) throw error
    return reply
  } finally {
    payer.tokens += toBudgetTokens(charged)
    deps.meter.spend(toUsageDay({ ...charged, reservation }))
    deps.meter.release(reservation)
  }
}

type Attempted =
  | { reply: ModelReply; taken?: undefined; error?: undefined }
  /** `taken` is set if the provider may have begun to answer. */
  | { reply?: undefined; error: unknown; taken?: ModelUsage }

async function attempt(
  deps: RuntimeDeps,
  model: Model,
  request: ModelRequest,
  input: number,
  signal: AbortSignal,
): Promise<Attempted> {
  let streamed = ''
  const onText = (text: string) => {
    streamed += text
  }
  try {
    return { reply: await completeBounded(deps, model, request, input, { signal, onText }) }
  } catch (error) {
    const sent = { input, maxOutput: request.maxOutput, written: streamed }
    return signal.aborted || hasBegun(error) ? { error, taken: takenBy(error, sent) } : { error }
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

/** Charges a resumed cycle the estimate of a call: nobody knows whether it was cut during one. */
export async function chargeCut(deps: RuntimeDeps, claim: Claim): Promise<void> {
  const model = deps.model(claim.agent.model)
  if (model.isFree) return
  const day = await openToday(deps)
  const input = deps.tokens.count(model.name, toPreamble(deps, claim), claim.window, undefined)
  const usage = { input, output: model.maxOutput, cachedInput: 0 }
  const reservation = { day, agent: claim.agent.name, tokens: 0, micros: 0, wakes: 0 }
  claim.unpaid = { ...usage, costMicros: toMicros(usage, model.price), reservation }
  await payApart(deps, claim)
}
