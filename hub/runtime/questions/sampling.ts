import { sleep } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { isObject, type JsonObject } from '../../core/forwarding.ts'
import type { Model, ModelMessage, ModelReply, ModelRequest } from '../../core/model.ts'
import type { Tx } from '../../store/writer.ts'
import type { RuntimeAgent, RuntimeDeps, Sample } from '../deps.ts'
import { type Account, completeApart } from '../limits/account.ts'
import { LimitReached } from '../limits/limit-reached.ts'
import { decideRetry } from '../retry.ts'
import { createSemaphore } from '../semaphore.ts'

/** Times that one call may have the model write for its server. */
const MOST_SAMPLES = 8

/** The system prompt of a request that has none. */
const SYSTEM = 'You answer the request of a tool’s server.'

type Deps = Parameters<typeof completeApart>[0] & Pick<RuntimeDeps, 'random'>

interface SamplingCall {
  account: Account
  /** Throws if another process has the call by now. */
  guard(tx: Tx): Promise<void>
  /** Aborts when a person stops the cycle. */
  stop: AbortSignal
}

/** Returns the sampling of an approved call: no other process runs it, and no person stops it. */
export function toApprovedCall(agent: RuntimeAgent, cycle: string): SamplingCall {
  const account = { agent, cycle, tokens: 0, cutText: '' }
  return { account, guard: async () => undefined, stop: new AbortController().signal }
}

/** Creates the sampling of one call, under the budgets of the cycle, the agent and the hub. */
export function createSampling(deps: Deps, { account, guard, stop }: SamplingCall): Sample {
  let count = 0
  return async (params, signal) => {
    if (++count > MOST_SAMPLES)
      throw new HubError('rate_limited', `One call may have the model write ${MOST_SAMPLES} times at most`)
    const request = (model: Model) => toRequest(deps, model, params)
    const modelNow = () => deps.model(account.agent.model)
    // A request that cannot be made is refused before it waits.
    request(modelNow())
    const ended = AbortSignal.any([signal, stop])
    account.sampling ??= createSemaphore(1)
    const release = await account.sampling.acquire(ended)
    try {
      const ask = async (model: Model) => {
        const call = { model, request: request(model), signal: ended }
        return toResult(model, await completeApart(deps, account, guard, call))
      }
      return await withRetries(deps, modelNow, ended, ask)
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error
      const why = `The budget of the agent ${account.agent.name} has no room for it (${error.data['limit']})`
      throw new HubError('rate_limited', why, { cause: error })
    } finally {
      release()
    }
  }
}

/** Repeats a failed call like a step of a cycle, for as long as the server waits. */
async function withRetries(
  { clock, random, log }: Deps,
  modelNow: () => Model,
  signal: AbortSignal,
  ask: (model: Model) => Promise<JsonObject>,
): Promise<JsonObject> {
  for (let failures = 1; ; failures++) {
    const model = modelNow()
    try {
      return await ask(model)
    } catch (error) {
      signal.throwIfAborted()
      const decision = decideRetry(error, failures, random)
      if (decision.kind === 'retry') {
        const { wait, of } = decision
        log.warn('model_failed', { error, attempt: failures, of, retryInMs: wait })
        await sleep(clock, wait, signal)
      } else if (model.health?.giveUp(error)) failures = 0
      else throw error
    }
  }
}

/** Builds the request; throws if no model can answer the params of a `sampling/createMessage`. */
function toRequest(deps: Deps, model: Model, params: JsonObject): ModelRequest {
  if (model.canSummarize === false)
    throw new HubError('unavailable', 'No language model is at work here: the hub has none configured')
  const { messages, systemPrompt, maxTokens, tools } = params
  if (Array.isArray(tools) && tools.length > 0)
    throw new HubError('bad_request', 'tools: an agent’s model is given none of a server; ask without them')
  if (!Array.isArray(messages) || messages.length === 0)
    throw new HubError('bad_request', 'messages: at least one is needed')
  const wanted = typeof maxTokens === 'number' && maxTokens >= 1 ? Math.floor(maxTokens) : model.maxOutput
  return {
    system: typeof systemPrompt === 'string' ? systemPrompt : SYSTEM,
    messages: messages.map(toMessage),
    tools: [],
    maxOutput: Math.min(wanted, model.maxOutput),
    timezone: deps.timezone,
    now: deps.clock.now(),
  }
}

function toMessage(message: unknown): ModelMessage {
  const { role, content } = isObject(message) ? message : {}
  const blocks: unknown[] = Array.isArray(content) ? content : [content]
  const text = blocks.map(toText).join('\n')
  return role === 'assistant' ? { role, text, calls: [] } : { role: 'user', text, items: [] }
}

function toText(block: unknown): string {
  const { type, text, mimeType } = isObject(block) ? block : {}
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'image' || type === 'audio')
    return `[${type} of type ${mimeType}, which this model cannot take in]`
  throw new HubError('bad_request', `messages: content of type ${type} is not taken`)
}

function toResult(model: Model, { text, truncated, by }: ModelReply): JsonObject {
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: by?.name ?? model.name,
    stopReason: truncated ? 'maxTokens' : 'endTurn',
  }
}
