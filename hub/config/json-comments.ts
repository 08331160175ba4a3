import { parseJson } from '../core/json.ts'

/** Matches a string or a comment. One without an end stops at the end of its line or text, to save time. */
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g
const STRING_OR_LAST_COMMA = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])/g

/**
 * Replaces comments, and commas before a closing bracket, by spaces, so that JSON as editors keep it becomes
 * plain JSON with the same lines and columns. Returns any other text unchanged: in YAML `//` may be part of
 * an address.
 */
export function withoutComments(text: string): string {
  const blank = (token: string) => (token.startsWith('"') ? token : token.replace(/[^\n]/g, ' '))
  const plain = text
    .replace(/^\uFEFF/, ' ')
    .replace(STRING_OR_COMMENT, blank)
    .replace(STRING_OR_LAST_COMMA, blank)
  return parseJson(plain) === undefined ? text : plain
}
