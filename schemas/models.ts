import { z } from 'zod'
import { limit, limitToMilliseconds, MOST_SECONDS } from './duration.ts'
import { name } from './names.ts'
import { PROVIDER_NAMES } from './providers.ts'
import { HEADER_TEXT, headerName, isHeaderText, requestBody, scalar } from './request-parts.ts'

/** Money per million tokens; tokens from the provider's cache cost as much as `input` by default. */
const price = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a code such as EUR'),
  input: z.number().nonnegative(),
  cachedInput: z.number().nonnegative().optional(),
  output: z.number().nonnegative(),
})

/** Longest time in milliseconds that the platform waits for an answer. */
const LONGEST_ANSWER_MS = 5 * 60_000
/** Shortest time in milliseconds in which a model answers: a smaller number is in another unit. */
const SHORTEST_ANSWER_MS = 1_000

const modelEntry = z
  .strictObject({
    provider: z
      .enum(PROVIDER_NAMES)
      .optional()
      .describe('whose API it is; default by the host of baseUrl, else compatible'),
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("where it is, with the /v1 of most; default the provider's own address"),
    apiKey: z
      .string()
      .refine(isHeaderText, HEADER_TEXT)
      .optional()
      .describe("default the provider's variable of the environment, at its own address"),
    model: z.string().regex(/\S/, 'must be its name there'),
    context: z
      .int()
      .min(2048)
      .optional()
      .describe('tokens of request and reply together; default what the provider reports, else 32768'),
    maxOutput: z
      .int()
      .min(64)
      .optional()
      .describe('tokens of one reply; default the smaller of 4096 and context / 4'),
    price: price.optional().describe('money per million tokens; a limit on money needs it'),
    reasoning: z
      .enum(['none', 'low', 'medium', 'high'])
      .optional()
      .describe("how much it thinks before it answers; default the model's own"),
    temperature: z.number().min(0).max(2).optional().describe("default the provider's own"),
    vision: z.boolean().optional().describe('whether it takes pictures'),
    timeout: limit
      .refine(given => {
        const limit = limitToMilliseconds(given)
        return limit >= SHORTEST_ANSWER_MS && limit <= LONGEST_ANSWER_MS
      }, `must be from 1s to 5m: a bare number is one of seconds up to ${MOST_SECONDS}, else of milliseconds`)
      .optional()
      .describe('until the answer begins; default 60s, 5m at http addresses'),
    headers: z
      .record(headerName, scalar.refine(isHeaderText, HEADER_TEXT))
      .optional()
      .describe('sent with every request'),
    body: requestBody.optional().describe('merged into every request'),
  })
  .refine(({ maxOutput = 0, context = Number.POSITIVE_INFINITY }) => maxOutput <= context / 2, {
    path: ['maxOutput'],
    error: 'must be at most half of context, or nothing could be asked',
  })
  .refine(({ provider = 'compatible', baseUrl }) => baseUrl !== undefined || provider !== 'compatible', {
    path: ['baseUrl'],
    error: `missing: where the model is asked, or provider (${PROVIDER_NAMES.filter(name => name !== 'compatible').join(', ')})`,
  })
export type ModelEntryFile = z.infer<typeof modelEntry>

/** `model` of `superbloom.yaml`. */
export const models = z.strictObject({
  default: modelEntry,
  fallback: z.array(modelEntry).default([]).describe('tried in order when the default fails for good'),
  compaction: modelEntry.optional().describe('writes summaries; default the model itself'),
  named: z
    .record(
      name.refine(given => given !== 'default', 'default is the name of the first model'),
      modelEntry,
    )
    .default({})
    .describe('further models, which agent files choose by these names'),
})

/** Returns every model that may think or summarise. */
export function modelsOf<Entry>(
  models:
    | {
        default: Entry
        fallback: readonly Entry[]
        compaction?: Entry | undefined
        named: Readonly<Record<string, Entry>>
      }
    | undefined,
): Entry[] {
  if (!models) return []
  const { fallback, compaction, named } = models
  return [models.default, ...fallback, ...(compaction ? [compaction] : []), ...Object.values(named)]
}
