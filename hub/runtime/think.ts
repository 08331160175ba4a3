import { type Deadline, timeoutSignal } from '../core/clock.ts'
import { type Model, ModelError, type ModelReply, type ModelRequest } from '../core/model.ts'
import { countStep } from '../store/cycles.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { planCalls } from '../store/ledger.ts'
import type { NewToolCall } from '../store/tables.ts'
import { hashArguments } from './arguments.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import { makeRoom } from './compaction.ts'
import { completeWithRetries } from './complete.ts'
import type { RuntimeDeps } from './deps.ts'
import { endWithText } from './finish.ts'
import { meterModel, settle, writeUsage } from './limits/metered-model.ts'
import { toPreamble } from './prompt.ts'
import { toMessages } from './window.ts'

/** One step: the model is asked, and its answer stands in the history with the calls that it plans. */
export async function think(
  deps: RuntimeDeps,
  claim: Claim,
  signal: AbortSignal,
): Promise<'act' | 'think' | 'ended'> {
  const model = meterModel(deps, claim, deps.model(claim.agent.model))
  const { request, reply } = await ask(deps, claim, model, signal)
  const step = claim.steps + 1
  const now = deps.clock.now()
  const usage = claim.unpaid ?? NO_USAGE
  const content = toContent(reply, uniqueIds(reply.calls, claim, step))
  const anchorAt = (seq: number) =>
    deps.tokens.learn(model.name, {
      preamble: request,
      window: claim.window,
      usage: reply.usage ?? NO_USAGE,
      seq,
    })
  if (content.calls.length === 0)
    return endWithText(deps, claim, { content, step, usage, text: toFinalText(reply), anchorAt, signal })
  const entries = await deps.store.write(async tx => {
    const lastSeq = await fencedWrite(tx, claim, 1, now + LEASE_MS, now)
    await countStep(tx, claim.cycle, usage)
    await writeUsage(tx, claim)
    await planCalls(tx, toPlan(deps, claim, content.calls, step, now))
    return appendHistory(tx, claim, lastSeq, step, [content], now)
  })
  settle(deps, claim)
  claim.anchor = anchorAt(entries[0]?.seq ?? 0)
  claim.window.push(...entries)
  claim.steps = step
  deps.signals.emit('stepped', { thread: claim.thread })
  return 'act'
}

/** Asks the model; where the provider finds the request too long, once more with less. */
async function ask(deps: RuntimeDeps, claim: Claim, model: Model, signal: AbortSignal) {
  await makeRoom(deps, claim, 'step', signal)
  const request = toRequest(deps, claim, model)
  try {
    return { request, reply: await completeWithRetries(deps, claim, { model, request, signal }) }
  } catch (error) {
    if (!(error instanceof ModelError && error.kind === 'overflow')) throw error
    deps.log.warn('request_too_long', { cycle: claim.cycle, error })
    await makeRoom(deps, claim, 'overflow', signal)
    const shorter = toRequest(deps, claim, model)
    return {
      request: shorter,
      reply: await completeWithRetries(deps, claim, { model, request: shorter, signal }),
    }
  }
}

const NO_USAGE = { input: 0, output: 0, cachedInput: 0, costMicros: 0 }

function toPlan(
  deps: RuntimeDeps,
  claim: Claim,
  calls: ModelReply['calls'],
  step: number,
  now: number,
): NewToolCall[] {
  return calls.map((made, position) => {
    const call = deps.toolBox.resolve(made)
    return {
      id: deps.newId('call'),
      thread_id: claim.thread,
      cycle_id: claim.cycle,
      step,
      position,
      call_id: made.id,
      tool: call.name,
      arguments: call.arguments,
      arguments_hash: hashArguments(call.arguments),
      status: 'planned',
      result_json: null,
      created_at: now,
      started_at: null,
      ended_at: null,
    }
  })
}

/** Thoughts are kept only beside calls: nobody wants them back later. */
function toContent(reply: ModelReply, calls: ModelReply['calls']) {
  const content = { role: 'assistant' as const, text: reply.text, calls }
  return reply.thinking && calls.length > 0 ? { ...content, thinking: reply.thinking } : content
}

/** A reply that was cut says so; one of which nothing but thoughts came would else be silence. */
function toFinalText(reply: ModelReply): string {
  if (!reply.truncated) return reply.text
  return reply.text.trim() === ''
    ? '(no text: the reply reached its longest length before its first word; maxOutput of the model sets it)'
    : `${reply.text}\n\n(cut: the reply reached its longest length)`
}

/** Ids that a provider repeats within a window would pair the wrong call and result. */
function uniqueIds(calls: ModelReply['calls'], claim: Claim, step: number): ModelReply['calls'] {
  if (calls.length === 0) return calls
  const used = new Set(
    claim.window.flatMap(({ content }) =>
      content.role === 'assistant' ? content.calls.map(call => call.id) : [],
    ),
  )
  return calls.map((call, index) => {
    const id = used.has(call.id) ? `${call.id}_${claim.cycle.slice(-6)}_${step}_${index}` : call.id
    used.add(id)
    return { ...call, id }
  })
}

function toRequest(deps: RuntimeDeps, claim: Claim, model: Model): ModelRequest {
  return {
    ...toPreamble(deps, claim),
    messages: toMessages(claim.window),
    maxOutput: model.maxOutput,
    timezone: deps.timezone,
    now: deps.clock.now(),
  }
}

/** Aborts when the cycle's minutes are over; `cancel` frees its timer. */
export function cycleDeadline(deps: RuntimeDeps, claim: Claim): Deadline {
  const left = claim.startedAt + claim.agent.limits.minutes * 60_000 - deps.clock.now()
  return timeoutSignal(deps.clock, left, 'The cycle')
}
