import { z } from 'zod'
import type { ProviderOptions } from './language-model.ts'

/**
 * The order in which a model thought, wrote and called, with what its provider wants back beside each part. The parts
 * hold no text of their own: `length` characters of the thoughts or of the text follow each other.
 */
const keptParts = z.array(
  z.object({
    type: z.enum(['reasoning', 'text', 'call']),
    length: z.int().nonnegative(),
    meta: z.custom<ProviderOptions>(value => typeof value === 'object' && value !== null).optional(),
  }),
)
export type KeptPart = z.infer<typeof keptParts>[number]

/** The parts as they were stored; none where they do not fit the message any more. */
export function readKeptParts(
  value: unknown,
  lengths: { reasoning: number; text: number; calls: number },
): KeptPart[] {
  const parts = keptParts.safeParse(value).data ?? []
  const sum = (type: KeptPart['type']) =>
    parts.reduce((all, part) => all + (part.type === type ? part.length : 0), 0)
  const fits =
    sum('reasoning') === lengths.reasoning && sum('text') === lengths.text && sum('call') === lengths.calls
  return fits ? parts : []
}
