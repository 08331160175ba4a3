import type { ModelMessage, ModelReply, ModelTool, ModelUsage, Price } from '../../core/model.ts'
import type { Usage } from '../../store/cycles.ts'
import type { CycleRow } from '../../store/tables.ts'
import { estimateTokens, type TokenCounter } from '../tokens.ts'

/** Returns the estimated tokens of a request to a model. */
export function estimateInput(
  tokens: TokenCounter,
  model: string,
  request: { system: string; tools: readonly ModelTool[]; messages: readonly ModelMessage[] },
): number {
  const window = request.messages.map((content, seq) => ({ seq, content }))
  return tokens.count(model, request, window, undefined)
}

/** Returns money in millionths: a price is money per million tokens, so it is millionths per token. */
export function toMicros(usage: Omit<Usage, 'costMicros'>, price: Price | undefined): number {
  if (!price) return 0
  const fresh = Math.max(0, usage.input - usage.cachedInput)
  return Math.ceil(fresh * price.input + usage.cachedInput * price.cachedInput + usage.output * price.output)
}

/** Returns tokens as budgets count them: those from the provider's cache count a tenth. */
export function toBudgetTokens({ input, output, cachedInput }: ModelUsage): number {
  return input - cachedInput + Math.ceil(cachedInput / 10) + output
}

/** Returns the tokens that a cycle used of its limit so far, from its stored row. */
export function tokensOfCycle(
  row: Pick<CycleRow, 'input_tokens' | 'output_tokens' | 'cached_tokens'>,
): number {
  return toBudgetTokens({
    input: row.input_tokens,
    output: row.output_tokens,
    cachedInput: row.cached_tokens,
  })
}

/** Returns the usage of a reply: as the provider counted it, else an estimate. */
export function toUsage(reply: ModelReply, input: number, price: Price | undefined): Usage {
  const usage = reply.usage ?? { input, output: estimateOutput(reply), cachedInput: 0 }
  return { ...usage, costMicros: toMicros(usage, reply.by?.price ?? price) }
}

/** The request and the reply of a call, as far as the hub itself knows them. */
export interface Exchanged {
  /** Estimated tokens of the request. */
  input: number
  /** Most tokens that the reply was allowed. */
  maxOutput: number
  /** Everything that came: text, thoughts and calls. */
  written: string
}

/**
 * A token stands for at least a byte, and an estimate has at least one token for five bytes (four, times the
 * least factor of a model): no request takes more than five times its estimate. Chat templates and providers
 * add a little.
 */
const MOST_PER_ESTIMATED = 5
const ADDED_BY_PROVIDER = 1_024

/**
 * Bounds a provider's figures by what was sent and what came: otherwise one absurd figure would use up the
 * budget of a day. Providers disagree on whether thoughts count against the longest reply, so the larger of
 * the two bounds it.
 */
export function boundUsage(usage: ModelUsage, { input, maxOutput, written }: Exchanged): ModelUsage {
  const most = input * MOST_PER_ESTIMATED + ADDED_BY_PROVIDER
  const taken = bounded(usage.input, most)
  return {
    input: taken,
    output: bounded(usage.output, Math.max(maxOutput, Buffer.byteLength(written))),
    cachedInput: bounded(usage.cachedInput, taken),
  }
}

function bounded(figure: number, most: number): number {
  return Math.min(most, Math.max(0, Math.round(figure)))
}

/** Returns everything that a reply holds as one text. */
export function writtenOf({ text, calls, thinking }: ModelReply): string {
  return text + calls.map(call => call.name + call.arguments).join('') + (thinking?.text ?? '')
}

function estimateOutput(reply: ModelReply): number {
  return estimateTokens(writtenOf(reply))
}
