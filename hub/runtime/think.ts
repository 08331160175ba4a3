import { sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
} from '../core/model.ts'
import { isBlank, toSentence, toSpan } from '../core/text.ts'
import { hashArguments } from '../store/arguments.ts'
import { planCalls } from '../store/ledger.ts'
import type { NewToolCall } from '../store/tables.ts'
import type { ActiveCycle, CycleWrite } from './active-cycle.ts'
import { type CompactDeps, type CompactFor, compact } from './compaction.ts'
import type { RuntimeDeps } from './deps.ts'
import { endWithText, isAwaited } from './final-text.ts'
import { completeMetered } from './limits/account.ts'
import { mayShrinkTo } from './limits/cycle-tokens.ts'
import { LimitReached } from './limits/limit-reached.ts'
import { decideRetry } from './retry.ts'
import { notifyRecovered } from './suspend.ts'
import { zoneOf } from './take-batch.ts'
import { toAsked } from './why.ts'
import { toMessages } from './window.ts'

export type ThinkDeps = CompactDeps & Pick<RuntimeDeps, 'random'>

/** Makes one step: asks the model, and adds its answer to the history with the calls that it plans. */
export async function think(
  deps: ThinkDeps,
  cycle: ActiveCycle,
  signal: AbortSignal,
): Promise<'act' | 'think' | 'ended'> {
  const { model, request, reply } = await askForReply(deps, cycle, signal)
  const content = toContent(reply, uniqueIds(reply.calls, cycle))
  cycle.asked = toAsked(cycle, { model, request, reply })
  const counted = deps.tokens.learn(model.name, {
    preamble: request,
    window: cycle.window,
    usage: reply.usage ?? { input: 0, output: 0 },
  })
  if (content.calls.length === 0)
    return endWithText(deps, cycle, {
      content,
      text: toFinalText(reply),
      why: whyEmpty(reply, request),
      isCut: reply.truncated,
      counted,
      signal,
    })
  await cycle.commit(async write => {
    await planCalls(write.tx, toPlan(deps, write, cycle, content.calls))
    await cycle.step(write, { answer: content, counted })
  })
  return 'act'
}

/** Asks the model, and once more if its reply is empty and either was cut or is waited for by a person. */
async function askForReply(deps: ThinkDeps, cycle: ActiveCycle, signal: AbortSignal): Promise<Asked> {
  const first = await ask(deps, cycle, signal)
  const { text, calls, truncated } = first.reply
  const isEmpty = calls.length === 0 && isBlank(text)
  if (!isEmpty || !(truncated || (await isAwaited(cycle)))) return first
  cycle.log.warn('reply_empty', { cycle: cycle.id, truncated })
  return ask(deps, cycle, signal, toReminder(first.reply))
}

/** Returns the message with which the model is asked once more. The history never holds it. */
function toReminder({ truncated }: ModelReply): ModelMessage {
  const why = truncated ? ' It was cut before its first word: think less, and be brief.' : ''
  const text = `[EMPTY REPLY]\nYour reply had neither text nor a call, and one is waited for.${why} Answer now.`
  return { role: 'user', text, items: [] }
}

/** Explains to people who waited why the reply is empty. */
function whyEmpty({ truncated }: ModelReply, { maxOutput }: ModelRequest) {
  const text = truncated
    ? `The model twice used up its longest reply (${maxOutput} tokens) before its first word. Raise maxOutput of the model, or ask for less at once.`
    : 'The model twice gave an empty reply. Write again, perhaps in other words.'
  return { text, data: { emptyReply: true } }
}

/** Asks the model, and once more with less if the provider or a budget finds the request too long. */
async function ask(
  deps: ThinkDeps,
  cycle: ActiveCycle,
  signal: AbortSignal,
  reminder?: ModelMessage,
): Promise<Asked> {
  const complete = (when: CompactFor) =>
    completeWithRetries(deps, cycle, signal, async model => {
      await compact(deps, cycle, when, signal)
      return {
        ...cycle.preamble(),
        messages: [...toMessages(cycle.window), ...(reminder ? [reminder] : [])],
        maxOutput: model.maxOutput,
        timezone: zoneOf(cycle.items, deps.timezone),
        now: cycle.now(),
      }
    })
  try {
    return await complete('step')
  } catch (error) {
    const shorter = decideShorter(deps, cycle, error)
    if (!shorter) throw error
    cycle.log.warn('request_too_long', { cycle: cycle.id, error })
    return complete(shorter)
  }
}

/** Decides how much shorter a request that failed may be made; undefined if that would not help. */
function decideShorter(deps: ThinkDeps, cycle: ActiveCycle, error: unknown): CompactFor | undefined {
  if (error instanceof ModelError) return error.kind === 'overflow' ? 'overflow' : undefined
  if (!(error instanceof LimitReached) || error.fits === undefined || cycle.isShrunk) return undefined
  if (!mayShrinkTo(deps, cycle.agent, error.fits)) return undefined
  cycle.isShrunk = true
  return { budget: error.fits }
}

/** A reply, with the model that gave it and the model's request. */
export interface Asked {
  model: Model
  request: ModelRequest
  reply: ModelReply
}

/**
 * Asks until there is an answer: repeats by the kind of error, then takes the next model, and throws the last
 * ModelError. Each try takes the model that the config names at that time. People are told once of a failure
 * that lasts, and once of its end.
 */
async function completeWithRetries(
  deps: ThinkDeps,
  cycle: ActiveCycle,
  signal: AbortSignal,
  toRequest: (model: Model) => Promise<ModelRequest>,
): Promise<Asked> {
  const onText = (text: string) => {
    if (cycle.target !== null)
      cycle.signals.emit('delta', { conversation: cycle.target, cycle: cycle.id, text })
  }
  let model = cycle.model()
  let request = await toRequest(model)
  for (let failures = 1; ; failures++) {
    const configured = cycle.model()
    if (configured !== model) {
      model = configured
      request = await toRequest(model)
      failures = 1
    }
    try {
      const reply = await completeMetered(deps, cycle, { model, request, signal, onText })
      await notifyRecovered(cycle)
      return { model, request, reply }
    } catch (error) {
      signal.throwIfAborted()
      const wait = await prepareRepeat(deps, cycle, error, failures)
      if (wait !== undefined) await sleep(deps.clock, wait, signal)
      else if (model.health?.giveUp(error)) failures = 0
      else throw error
    }
  }
}

/** Returns the milliseconds until the next try; undefined if there is none within the cycle's minutes. */
async function prepareRepeat(
  { random }: ThinkDeps,
  cycle: ActiveCycle,
  error: unknown,
  failures: number,
): Promise<number | undefined> {
  const decision = decideRetry(error, failures, random)
  cycle.failures = decision.attempt
  if (decision.kind === 'give_up') return undefined
  const { wait, of, tell } = decision
  const retryAt = cycle.now() + wait
  if (retryAt >= cycle.startedAt + cycle.agent.limits.minutes * 60_000) return undefined
  cycle.log.warn('model_failed', { error, attempt: failures, of, retryInMs: wait })
  if (!tell || cycle.hasReportedFailure || cycle.suspendedAt !== null) return wait
  cycle.hasReportedFailure = true
  const text = `${toSentence(describeError(error))} I try again in ${toSpan(wait)} (${failures} of ${of}).`
  const data = { attempt: failures, of, retryAt, retryable: true }
  await cycle.commit(write => cycle.message(write, { kind: 'error', text, data }))
  return wait
}

function toPlan(
  { toolBox }: ThinkDeps,
  { now }: CycleWrite,
  cycle: ActiveCycle,
  calls: ModelReply['calls'],
): NewToolCall[] {
  return calls.map((made, position) => {
    const call = toolBox.resolve(made)
    return {
      id: cycle.newId('call'),
      thread_id: cycle.thread,
      cycle_id: cycle.id,
      step: cycle.steps + 1,
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

/** Returns a reply for the history. Some providers want thoughts back with every message, calls or not. */
function toContent(reply: ModelReply, calls: ModelReply['calls']) {
  const content = { role: 'assistant' as const, text: reply.text, calls }
  return reply.thinking ? { ...content, thinking: reply.thinking } : content
}

/** Returns the final text; a reply that was cut says so. */
function toFinalText({ text, truncated }: ModelReply): string {
  return truncated && !isBlank(text) ? `${text}\n\n(cut: the reply reached its longest length)` : text
}

/** Makes ids of calls unique: ids that repeat within a window would pair the wrong call and result. */
function uniqueIds(
  calls: ModelReply['calls'],
  { window, id: cycle, steps }: ActiveCycle,
): ModelReply['calls'] {
  if (calls.length === 0) return calls
  const used = new Set(
    window.flatMap(({ content }) => (content.role === 'assistant' ? content.calls.map(call => call.id) : [])),
  )
  return calls.map((call, index) => {
    const id = used.has(call.id) ? `${call.id}_${cycle.slice(-6)}_${steps + 1}_${index}` : call.id
    used.add(id)
    return { ...call, id }
  })
}
