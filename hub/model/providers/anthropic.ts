import type { ModelEntry, Provider } from '../adapter.ts'
import { IDENTITY, TOOLS, type ToolForm, toForm } from '../form/form.ts'
import type { ProviderOptions } from '../sdk/prompt.ts'
import { createSdkAdapter } from '../sdk/sdk-adapter.ts'

/** Tokens of thinking; at least 1,024. Models that set their own budget get that mode from the package. */
const BUDGETS = { low: 1_024, medium: 4_096, high: 16_384 }

/**
 * Anthropic limits names of arguments (https://github.com/beautyfree/appstore-connect-mcp/issues/2), and
 * takes long descriptions.
 */
const ANTHROPIC_TOOLS: ToolForm = {
  ...TOOLS,
  without: IDENTITY,
  longestDescription: 4096,
  plainArguments: true,
}

/** Anthropic's Messages API, whose prompt cache ends at the marks in a request. */
export const anthropic: Provider = {
  /** It needs ids of letters, digits, `_` and `-`, the user first, and signed thoughts. */
  form: entry => toForm(entry, { merge: ['user'], images: 'all' }, ANTHROPIC_TOOLS),
  async open(entry, clock) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createSdkAdapter(entry, clock, {
      toModel: settings => createAnthropic(settings).languageModel(entry.model),
      toOptions: () => toThinking(entry),
      mark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    })
  },
}

function toThinking({ reasoning, model }: ModelEntry): ProviderOptions {
  if (reasoning === undefined) return {}
  if (reasoning === 'none') return { anthropic: { thinking: { type: 'disabled' } } }
  const thinking = { type: 'enabled', budgetTokens: BUDGETS[reasoning] }
  // Older models do not know `effort` and refuse it.
  const takesEffort = /(opus|sonnet|haiku|fable|mythos)-(5|4-[6-9])/.test(model)
  return { anthropic: { thinking, ...(takesEffort && { effort: reasoning }) } }
}
