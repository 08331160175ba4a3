import type { Price } from '../core/model.ts'

/**
 * Sizes and prices of models whose providers do not report them. As of 2026-11-15, from
 * - https://developers.openai.com/api/docs/models and litellm's discussions 42523 and 52347 (GPT-6),
 * - https://platform.claude.com/docs/en/about-claude/pricing and its models' overviews,
 * - https://ai.google.dev/gemini-api/docs/pricing, https://mistral.ai/pricing,
 * - https://api-docs.deepseek.com/quick_start/pricing,
 * - https://models.dev (github.com/anomalyco/models.dev) for all others.
 *
 * A row has the highest price that a request of 200,000 tokens may cost (peak hours, the end of an
 * introduction, longer prompts), so that a limit on money holds. It repeats the input's price where no price
 * of cached input was found. Its context is the limit on the input where the provider has a separate one. A
 * row applies to its names and their dated, `-latest` and `-preview` forms, and never to other models whose
 * names begin alike.
 */
const ROWS: readonly Row[] = [
  // provider, names, context, most output; dollars per million: input, cached input, output; sees pictures
  ['openai', 'gpt-6.2-astra', 922_000, 128_000, 8, 0.4, 40, true],
  ['openai', 'gpt-6-astra', 922_000, 128_000, 10, 1, 50, true],
  ['openai', 'gpt-6.2-sol|gpt-6.1-sol|gpt-6-sol', 922_000, 128_000, 2, 0.2, 10, true],
  ['openai', 'gpt-6.1-terra', 922_000, 128_000, 1, 1, 5, true],
  ['openai', 'gpt-6-luna', 922_000, 128_000, 0.1, 0.01, 0.5, true],
  ['openai', 'gpt-5.6|gpt-5.6-sol', 922_000, 128_000, 4, 0.5, 20, true],
  ['openai', 'gpt-5.6-terra', 922_000, 128_000, 2, 0.2, 12, true],
  ['openai', 'gpt-5.6-luna', 922_000, 128_000, 0.2, 0.02, 1.2, true],
  ['openai', 'gpt-5.5', 922_000, 128_000, 5, 0.5, 30, true],
  ['openai', 'gpt-5.4', 922_000, 128_000, 2.5, 0.25, 15, true],
  ['openai', 'gpt-5.4-mini', 272_000, 128_000, 0.75, 0.075, 4.5, true],
  ['openai', 'gpt-5.4-nano', 272_000, 128_000, 0.2, 0.02, 1.25, true],
  ['openai', 'gpt-5.2', 272_000, 128_000, 1.75, 0.175, 14, true],
  ['openai', 'gpt-5.1|gpt-5', 272_000, 128_000, 1.25, 0.125, 10, true],
  ['openai', 'gpt-5-mini', 272_000, 128_000, 0.25, 0.025, 2, true],
  ['openai', 'gpt-5-nano', 272_000, 128_000, 0.05, 0.005, 0.4, true],
  ['openai', 'gpt-4.1', 1_047_576, 32_768, 2, 0.5, 8, true],
  ['openai', 'gpt-4.1-mini', 1_047_576, 32_768, 0.4, 0.1, 1.6, true],
  ['anthropic', 'claude-fable-5-1', 1_000_000, 128_000, 10, 0.25, 50, true],
  ['anthropic', 'claude-fable-5', 1_000_000, 128_000, 10, 1, 50, true],
  ['anthropic', 'claude-opus-5-5', 1_000_000, 128_000, 4, 0.2, 20, true],
  ['anthropic', 'claude-opus-5|claude-opus-4-[678]', 1_000_000, 128_000, 5, 0.5, 25, true],
  ['anthropic', 'claude-opus-4-5', 200_000, 64_000, 5, 0.5, 25, true],
  ['anthropic', 'claude-sonnet-5-5', 1_000_000, 128_000, 2, 0.1, 10, true],
  ['anthropic', 'claude-sonnet-5', 1_000_000, 128_000, 2, 0.2, 10, true],
  ['anthropic', 'claude-sonnet-4-6', 1_000_000, 64_000, 3, 0.3, 15, true],
  ['anthropic', 'claude-sonnet-4-5', 200_000, 64_000, 3, 0.3, 15, true],
  ['anthropic', 'claude-haiku-5-5', 1_000_000, 128_000, 0.5, 0.05, 2.5, true],
  ['anthropic', 'claude-haiku-4-5', 200_000, 64_000, 1, 0.1, 5, true],
  ['google', 'gemini-3.8-flash|gemini-3.7-flash', 1_048_576, 65_536, 1.5, 0.15, 7.5, true],
  ['google', 'gemini-3.5-flash', 1_048_576, 65_536, 1.5, 0.15, 9, true],
  ['google', 'gemini-3.1-pro', 1_048_576, 65_536, 2, 0.2, 12, true],
  ['google', 'gemini-3.1-flash-lite', 1_048_576, 65_536, 0.25, 0.025, 1.5, true],
  ['google', 'gemini-3-flash', 1_048_576, 65_536, 0.5, 0.05, 3, true],
  ['google', 'gemini-2.5-pro', 1_048_576, 65_536, 1.25, 0.125, 10, true],
  ['google', 'gemini-2.5-flash', 1_048_576, 65_536, 0.3, 0.03, 2.5, true],
  ['google', 'gemini-2.5-flash-lite', 1_048_576, 65_536, 0.1, 0.01, 0.4, true],
  ['mistral', 'mistral-large-2512', 262_144, 262_144, 0.5, 0.5, 1.5, true],
  ['mistral', 'mistral-large-4|mistral-large-latest', 262_144, 262_144, 1.36, 1.36, 4.18, true],
  ['mistral', 'mistral-medium-(?:3[.-]5|2604|latest)', 262_144, 262_144, 1.5, 1.5, 7.5, true],
  ['mistral', 'mistral-small-2603|mistral-small-latest', 256_000, 256_000, 0.15, 0.15, 0.6, true],
  ['mistral', 'codestral-latest', 256_000, 4_096, 0.3, 0.3, 0.9, false],
  ['deepseek', 'deepseek-flash|deepseek-v4-flash', 1_000_000, 384_000, 0.3, 0.006, 1.2, true],
  ['deepseek', 'deepseek-v4-pro', 1_000_000, 384_000, 1.32, 0.044, 3.96, false],
]

type Row = readonly [
  provider: string,
  names: string,
  context: number,
  maxOutput: number,
  input: number,
  cachedInput: number,
  output: number,
  vision: boolean,
]

export interface KnownModel {
  context: number
  maxOutput: number
  price: Price
  vision: boolean
}

/** Returns the table's sizes and price of a native provider's model; undefined for any other. */
export function knownModel(provider: string, model: string): KnownModel | undefined {
  const row = ROWS.find(([of, names]) => of === provider && new RegExp(`^(?:${names})${SAME}$`).test(model))
  if (!row) return undefined
  const [, , context, maxOutput, input, cachedInput, output, vision] = row
  return { context, maxOutput, vision, price: { currency: 'USD', input, cachedInput, output } }
}

/** Suffixes that name the same model: a date (2026-04-23 or 20251001), `-preview` and `-latest`. */
const SAME = String.raw`(?:-\d{4}-\d\d-\d\d|-\d{8})?(?:-preview)?(?:-latest)?`
