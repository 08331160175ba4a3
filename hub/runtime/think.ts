import { sleep, timeoutSignal } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import type { Model, ModelReply, ModelRequest } from '../core/model.ts'
import { toSpan } from '../core/text.ts'
import { countStep } from '../store/cycles.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { planCalls } from '../store/ledger.ts'
import { moveWindow } from '../store/threads.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import type { RuntimeDeps } from './deps.ts'
import { type Ended, finish } from './finish.ts'
import { toSystemPrompt } from './prompt.ts'
import { decideRetry } from './retry.ts'
import { publish, tellNow } from './tell.ts'
import { decideWindowStart, estimateTokens, toMessages } from './window.ts'

/** One step: the model is asked, and its answer stands in the history with the calls that it plans. */
export async function think(
  deps: RuntimeDeps,
  claim: Claim,
  signal: AbortSignal,
): Promise<'act' | 'think' | 'ended'> {
  const model = deps.model()
  const request = await toRequest(deps, claim, model)
  const reply = await completeWithRetries(deps, claim, { model, request, signal })
  const step = claim.steps + 1
  const now = deps.clock.now()
  const ended = await deps.store.write(async tx => {
    const lastSeq = await fencedWrite(tx, claim, 1, now + LEASE_MS, now)
    const content = toContent(reply, uniqueIds(reply.calls, claim, step))
    claim.window.push(...(await appendHistory(tx, claim, lastSeq, step, [content], now)))
    await countStep(tx, claim.cycle, reply.usage ?? { input: 0, output: 0, cachedInput: 0 })
    claim.steps = step
    await planCalls(
      tx,
      content.calls.map((call, position) => ({
        id: deps.newId('call'),
        thread_id: claim.thread,
        cycle_id: claim.cycle,
        step,
        position,
        call_id: call.id,
        tool: call.name,
        arguments: call.arguments,
        status: 'planned' as const,
        result_json: null,
        created_at: now,
        started_at: null,
        ended_at: null,
      })),
    )
    if (content.calls.length > 0) return undefined
    return finish(deps, tx, claim, { kind: 'final', text: withTruncation(reply) })
  })
  return ended ? settle(deps, ended) : 'act'
}

/** Thoughts are kept only beside calls: nobody wants them back later. */
function toContent(reply: ModelReply, calls: ModelReply['calls']) {
  const content = { role: 'assistant' as const, text: reply.text, calls }
  return reply.thinking && calls.length > 0 ? { ...content, thinking: reply.thinking } : content
}

/** Publishes what ended a cycle said. */
export function settle(deps: RuntimeDeps, ended: Ended): 'think' | 'ended' {
  publish(deps, ended.messages)
  return ended.goesOn ? 'think' : 'ended'
}

function withTruncation(reply: ModelReply): string {
  return reply.truncated && reply.text !== ''
    ? `${reply.text}\n\n(cut: the reply reached its longest length)`
    : reply.text
}

/** Ids that a provider repeats within a window would pair the wrong call and result. */
function uniqueIds(calls: ModelReply['calls'], claim: Claim, step: number): ModelReply['calls'] {
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

async function toRequest(deps: RuntimeDeps, claim: Claim, model: Model): Promise<ModelRequest> {
  const system = toSystemPrompt(claim.agent)
  const tools = deps.toolBox.list(claim.agent.tools)
  const fixed = estimateTokens(system) + estimateTokens(JSON.stringify(tools))
  const start = decideWindowStart(claim.window, model, fixed)
  if (start !== undefined) {
    await deps.store.write(tx => moveWindow(tx, claim.thread, start))
    claim.window = claim.window.filter(entry => entry.seq >= start)
    claim.windowStart = start
  }
  return {
    system,
    tools,
    messages: toMessages(claim.window),
    maxOutput: model.maxOutput,
    timezone: deps.timezone,
    now: deps.clock.now(),
  }
}

interface Attempt {
  model: Model
  request: ModelRequest
  signal: AbortSignal
}

async function completeWithRetries(deps: RuntimeDeps, claim: Claim, attempt: Attempt): Promise<ModelReply> {
  const onText = (text: string) => {
    if (claim.target === null) return
    deps.signals.emit('delta', { conversation: claim.target, cycle: claim.cycle, text })
  }
  for (let failures = 1; ; failures++) {
    try {
      return await attempt.model.complete(attempt.request, { signal: attempt.signal, onText })
    } catch (error) {
      attempt.signal.throwIfAborted()
      const decision = decideRetry(error, failures, deps.random)
      if (decision.kind === 'give_up') throw error
      const { wait, of, tell } = decision
      deps.log.warn('model_failed', { error, attempt: failures, of, retryInMs: wait })
      if (tell) {
        const retryAt = deps.clock.now() + wait
        await tellNow(deps, claim, {
          kind: 'error',
          text: `${describeError(error)} I try again in ${toSpan(wait)} (${failures} of ${of}).`,
          data: { attempt: failures, of, retryAt, retryable: true },
        })
      }
      await sleep(deps.clock, wait, attempt.signal)
    }
  }
}

/** Aborts when the cycle's minutes are over; `cancel` frees its timer. */
export function cycleDeadline(deps: RuntimeDeps, claim: Claim) {
  const left = claim.startedAt + claim.agent.limits.minutes * 60_000 - deps.clock.now()
  return timeoutSignal(deps.clock, left, 'The cycle')
}
