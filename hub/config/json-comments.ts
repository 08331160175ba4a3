import { parseJson } from '../core/json.ts'

/** A string, or a comment. What has no end reaches to the end of its line or of the text, so that no text takes long. */
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g
const STRING_OR_LAST_COMMA = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])/g

/**
 * JSON as editors keep it, with comments and commas before a closing bracket, as plain JSON: spaces take their place, so
 * that each line and column stays. Any other text comes back as it is: in YAML `//` may be part of an address.
 */
export function withoutComments(text: string): string {
  const blank = (token: string) => (token.startsWith('"') ? token : token.replace(/[^\n]/g, ' '))
  const plain = text
    .replace(/^\uFEFF/, ' ')
    .replace(STRING_OR_COMMENT, blank)
    .replace(STRING_OR_LAST_COMMA, blank)
  return parseJson(plain) === undefined ? text : plain
}
