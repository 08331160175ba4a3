import type { ModelMessage, ModelReply, ModelTool, Price } from '../../core/model.ts'
import type { Usage } from '../../store/cycles.ts'
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

/** What a reply took: as the provider counted it, else an estimate. */
export function toUsage(reply: ModelReply, input: number, price: Price | undefined): Usage {
  const usage = reply.usage ?? { input, output: estimateOutput(reply), cachedInput: 0 }
  return { ...usage, costMicros: toMicros(usage, reply.by?.price ?? price) }
}

function estimateOutput({ text, calls, thinking }: ModelReply): number {
  const asked = calls.map(call => call.name + call.arguments).join('')
  return estimateTokens(text + asked + (thinking?.text ?? ''))
}
