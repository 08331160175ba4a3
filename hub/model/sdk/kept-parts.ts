import { z } from 'zod'
import type { ProviderOptions } from './language-model.ts'

/**
 * Parts of a reply in the order in which the model thought, wrote and called, with what its provider wants
 * back. A part has no text of its own: its `length` counts the next characters of the thoughts or of the
 * text.
 */
const keptParts = z.array(
  z.object({
    type: z.enum(['reasoning', 'text', 'call']),
    length: z.int().nonnegative(),
    meta: z.custom<ProviderOptions>(value => typeof value === 'object' && value !== null).optional(),
  }),
)
export type KeptPart = z.infer<typeof keptParts>[number]

/** Returns the parts as they were stored; none where they no longer fit the message. */
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
