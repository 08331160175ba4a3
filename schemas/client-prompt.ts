import { z } from 'zod'

const ARGUMENT = /^[A-Za-z][A-Za-z0-9_]*$/
const PLACEHOLDER = /\{([A-Za-z][A-Za-z0-9_]*)\}/g

const argument = z.strictObject({
  name: z.string().regex(ARGUMENT, 'must be letters, digits and _'),
  description: z.string().min(1).optional(),
  required: z.boolean().default(false),
  values: z.array(z.string().min(1)).default([]).describe('what clients propose'),
})

/** A prompt that clients offer to people under an agent's name: a text for the client's own model. */
export const clientPrompt = z
  .strictObject({
    title: z.string().min(1).optional(),
    description: z.string().min(1).optional().describe("default: the agent's"),
    text: z.string().trim().min(1).describe('{name} stands for the argument of that name'),
    arguments: z.array(argument).default([]),
  })
  .superRefine(({ text, arguments: declared }, context) => {
    const refuse = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message })
    const used = new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))
    const names = declared.map(({ name }) => name)
    for (const [index, name] of names.entries()) {
      const path = ['arguments', index, 'name']
      if (names.indexOf(name) < index) refuse(path, `${name} is declared twice`)
      else if (!used.has(name)) refuse(path, `{${name}} does not occur in the text`)
    }
    for (const name of used)
      if (!names.includes(name))
        refuse(['text'], `{${name}} is none of its arguments: declare it, or write it without braces`)
  })
export type ClientPrompt = z.infer<typeof clientPrompt>

/** Fills the arguments into the text; a missing argument leaves nothing. */
export function fillPrompt({ text }: ClientPrompt, given: ReadonlyMap<string, string>): string {
  return text.replace(PLACEHOLDER, (_whole, name: string) => given.get(name) ?? '')
}
