import type { ModelMessage, ModelReply, ModelTool, ModelUsage, Price } from '../../core/model.ts'
import type { Usage } from '../../store/cycles.ts'
import type { CycleRow } from '../../store/tables.ts'
import { estimateTokens, type TokenCounter } from '../tokens.ts'

/** What a request to a model takes before it is answered, tokens. */
export function estimateInput(
  tokens: TokenCounter,
  model: string,
  request: { system: string; tools: readonly ModelTool[]; messages: readonly ModelMessage[] },
): number {
  const window = request.messages.map((content, seq) => ({ seq, content }))
  return tokens.count(model, request, window, undefined)
}

/** Money in millionths: a price is money per million tokens, so it is millionths per token. */
export function toMicros(usage: Omit<Usage, 'costMicros'>, price: Price | undefined): number {
  if (!price) return 0
  const fresh = Math.max(0, usage.input - usage.cachedInput)
  return Math.ceil(fresh * price.input + usage.cachedInput * price.cachedInput + usage.output * price.output)
}

/** Tokens as budgets count them: what came from the provider's cache counts a tenth. */
export function toBudgetTokens({ input, output, cachedInput }: ModelUsage): number {
  return input - cachedInput + Math.ceil(cachedInput / 10) + output
}

/** What a cycle used of its limit so far, as it is stored. */
export function tokensOfCycle(
  row: Pick<CycleRow, 'input_tokens' | 'output_tokens' | 'cached_tokens'>,
): number {
  return toBudgetTokens({
    input: row.input_tokens,
    output: row.output_tokens,
    cachedInput: row.cached_tokens,
  })
}

/** What a reply took: as the provider counted it, else an estimate. */
export function toUsage(reply: ModelReply, input: number, price: Price | undefined): Usage {
  const usage = reply.usage ?? { input, output: estimateOutput(reply), cachedInput: 0 }
  return { ...usage, costMicros: toMicros(usage, reply.by?.price ?? price) }
}

/** What a call sent and got, as far as the hub itself knows it. */
export interface Exchanged {
  /** The estimate of the request, tokens. */
  input: number
  /** What the reply was allowed, tokens. */
  maxOutput: number
  /** All that came: text, thoughts and calls. */
  written: string
}

/**
 * A token stands for at least a byte, and an estimate has at least one token for five bytes (four, times the least
 * factor of a model): no request takes more than five times its estimate. Chat templates and providers add a little.
 */
const MOST_PER_ESTIMATED = 5
const ADDED_BY_PROVIDER = 1_024

/**
 * A provider's figures, bounded by what was sent and what came: one absurd figure would else use up the budget of a
 * day. Providers disagree on whether thoughts count against the longest reply, so that whichever is more bounds it.
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

/** Everything that a reply holds. */
export function writtenOf({ text, calls, thinking }: ModelReply): string {
  return text + calls.map(call => call.name + call.arguments).join('') + (thinking?.text ?? '')
}

function estimateOutput(reply: ModelReply): number {
  return estimateTokens(writtenOf(reply))
}
