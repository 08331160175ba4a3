import { type Deadline, timeoutSignal } from '../core/clock.ts'
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
} from '../core/model.ts'
import { isBlank } from '../core/text.ts'
import { countStep } from '../store/cycles.ts'
import { appendHistory, fencedWrite } from '../store/history.ts'
import { saveTokenFactors } from '../store/hub-state.ts'
import { planCalls } from '../store/ledger.ts'
import type { NewToolCall } from '../store/tables.ts'
import { hashArguments } from './arguments.ts'
import { type Claim, LEASE_MS } from './claim.ts'
import { makeRoom, type RoomFor } from './compaction.ts'
import { completeWithRetries } from './complete.ts'
import type { RuntimeDeps } from './deps.ts'
import { endWithText, isAwaited } from './finish.ts'
import { mayShrinkTo } from './limits/cycle-tokens.ts'
import { LimitReached } from './limits/limit-reached.ts'
import { settle, writeUsage } from './limits/metered-model.ts'
import { toPreamble } from './prompt.ts'
import { toAnchor } from './tokens.ts'
import { toMessages } from './window.ts'

/** Makes one step: asks the model, and adds its answer to the history with the calls that it plans. */
export async function think(
  deps: RuntimeDeps,
  claim: Claim,
  signal: AbortSignal,
): Promise<'act' | 'think' | 'ended'> {
  const { model, request, reply } = await askForReply(deps, claim, signal)
  const step = claim.steps + 1
  const now = deps.clock.now()
  const usage = claim.unpaid ?? NO_USAGE
  const content = toContent(reply, uniqueIds(reply.calls, claim, step))
  const counted = deps.tokens.learn(model.name, {
    preamble: request,
    window: claim.window,
    usage: reply.usage ?? NO_USAGE,
  })
  if (content.calls.length === 0)
    return endWithText(deps, claim, {
      content,
      step,
      usage,
      text: toFinalText(reply),
      why: whyEmpty(reply, request),
      isCut: reply.truncated,
      counted,
      signal,
    })
  const entries = await deps.store.write(async tx => {
    const lastSeq = await fencedWrite(tx, claim, 1, now + LEASE_MS, now)
    await countStep(tx, claim.cycle, usage)
    await writeUsage(tx, claim)
    if (counted !== undefined) await saveTokenFactors(tx, deps.tokens.factors)
    await planCalls(tx, toPlan(deps, claim, content.calls, step, now))
    return appendHistory(tx, claim, lastSeq, step, [content], now)
  })
  settle(deps, claim)
  claim.anchor = toAnchor(counted, entries[0]?.seq ?? 0)
  claim.window.push(...entries)
  claim.steps = step
  claim.unseen = []
  claim.turn?.share()
  deps.signals.emit('stepCommitted', { thread: claim.thread })
  return 'act'
}

/** Asks the model, and once more if its reply is empty and either was cut or is waited for by a person. */
async function askForReply(deps: RuntimeDeps, claim: Claim, signal: AbortSignal) {
  const first = await ask(deps, claim, signal)
  const { reply } = first
  if (!isEmpty(reply) || !(reply.truncated || (await isAwaited(deps.store.db, claim)))) return first
  deps.log.warn('reply_empty', { cycle: claim.cycle, truncated: reply.truncated })
  return ask(deps, claim, signal, toReminder(reply))
}

function isEmpty({ text, calls }: ModelReply): boolean {
  return calls.length === 0 && isBlank(text)
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
async function ask(deps: RuntimeDeps, claim: Claim, signal: AbortSignal, reminder?: ModelMessage) {
  const complete = (room: RoomFor) =>
    completeWithRetries(deps, claim, {
      signal,
      toRequest: async model => {
        await makeRoom(deps, claim, room, signal)
        return toRequest(deps, claim, model, reminder)
      },
    })
  try {
    return await complete('step')
  } catch (error) {
    const shorter = decideShorter(deps, claim, error)
    if (!shorter) throw error
    deps.log.warn('request_too_long', { cycle: claim.cycle, error })
    return complete(shorter)
  }
}

/** Decides how much shorter a request that failed may be made; undefined if that would not help. */
function decideShorter(deps: RuntimeDeps, claim: Claim, error: unknown): RoomFor | undefined {
  if (error instanceof ModelError) return error.kind === 'overflow' ? 'overflow' : undefined
  if (!(error instanceof LimitReached) || error.room === undefined || claim.shrunk) return undefined
  if (!mayShrinkTo(deps, claim.agent, error.room)) return undefined
  claim.shrunk = true
  return { budget: error.room }
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

function toRequest(
  deps: RuntimeDeps,
  claim: Claim,
  model: Model,
  reminder: ModelMessage | undefined,
): ModelRequest {
  return {
    ...toPreamble(deps, claim),
    messages: [...toMessages(claim.window), ...(reminder ? [reminder] : [])],
    maxOutput: model.maxOutput,
    timezone: deps.timezone,
    now: deps.clock.now(),
  }
}

/** Returns a deadline that aborts when the cycle's minutes are over; `cancel` frees its timer. */
export function cycleDeadline(deps: RuntimeDeps, claim: Claim): Deadline {
  const left = claim.startedAt + claim.agent.limits.minutes * 60_000 - deps.clock.now()
  return timeoutSignal(deps.clock, left, 'The cycle')
}
