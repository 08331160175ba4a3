import { z } from 'zod'

/** The argument of a tool whose effects may surprise. */
export const confirmField = z
  .boolean()
  .default(false)
  .describe('true: do it, after a person agreed to the preview')

/** Output fields of a tool with `confirmField`: spread them in. */
export const confirmOutput = {
  done: z.boolean().describe('false: nothing was done, preview says what would be'),
  preview: z
    .object({
      would: z.string().describe('what the call would do'),
      effects: z.array(z.string()).describe('what else would come of it'),
    })
    .optional(),
}

/**
 * Returns the outcome of a call that was not confirmed. `would` continues "It would " without a full stop:
 * "stop the server atm-10 with 3 players online"; `effects` are whole sentences. Add other required output to
 * `data`.
 */
export function toPreview(would: string, effects: readonly string[] = []) {
  const lines = effects.map(effect => `- ${effect}`)
  return {
    data: { done: false as const, preview: { would, effects: [...effects] } },
    text: [
      `Nothing was done. It would ${would}.`,
      ...lines,
      'Call it again with confirm: true to do it.',
    ].join('\n'),
  }
}
