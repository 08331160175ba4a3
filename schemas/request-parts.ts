import { z } from 'zod'

/** Tells whether a header can carry a text, without the spaces around it. */
export const isHeaderText = (given: string) => /^[\t\x20-\x7e\xa0-\xff]*$/.test(given.trim())
export const HEADER_TEXT = 'must be one line of plain characters: no header can carry anything else'

export const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be letters, digits and -: no header has such a name')

const WRITTEN_BY_HUB = 'the hub writes it: leave it out'

/** Keys of a request's body that the hub sets, under the names of every API, with what to write instead. */
const DECIDED: Readonly<Record<string, string>> = {
  stream: 'every reply is streamed: leave it out',
  model: 'write it as model of the entry',
  messages: WRITTEN_BY_HUB,
  input: WRITTEN_BY_HUB,
  contents: WRITTEN_BY_HUB,
  system: WRITTEN_BY_HUB,
  instructions: WRITTEN_BY_HUB,
  systemInstruction: WRITTEN_BY_HUB,
  tools: WRITTEN_BY_HUB,
  functions: WRITTEN_BY_HUB,
}

/** Keys that a person adds to the body of each request. */
export const requestBody = z.record(z.string(), z.unknown()).superRefine((given, context) => {
  for (const key of Object.keys(given)) {
    const message = DECIDED[key]
    if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message })
  }
})

/** A text, for which YAML and other clients also write a number or a boolean. */
export const scalar = z.union([z.string(), z.number().transform(String), z.boolean().transform(String)])
