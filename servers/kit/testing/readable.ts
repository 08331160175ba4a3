/** Patterns that a readable text must not match, with their descriptions. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/[{}]/, 'braces: a person reads sentences, not JSON'],
  [/(?<![\w.:/-])\d{5,}(?:\.\d+)?(?![\w:/-]|\.\d)(?! ?(?:%|°|[a-zA-Z]))/, 'a long number without a unit'],
  [/(?<!\w)\d{5,}(?:\.\d+)? (?:B|bytes)\b/, 'bytes that need a larger unit'],
  [/\b1[5-9]\d{8}(?:\d{3})?\b/, 'a unix time'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d/, 'an ISO time'],
  [/\b\d\d:\d\d(?::\d\d)?\b(?! ?(?:UTC|GMT|[A-Z]{2,5}\b|[+-]\d))/, 'a clock time without a zone'],
  [/\b[0-9a-f]{20,}\b/i, 'a long id without a name'],
  [/\[object |undefined|\bNaN\b/, 'what a program shows of nothing'],
]

/**
 * Throws if a tool's text is not fit for a person: braces, long numbers and bytes without units, times
 * without a zone, ids. Fenced lines and quoted text are foreign and are not checked.
 */
export function assertReadable(text: string): void {
  const own = text.replace(/(`{3,})\n(?:.|\n)*?\n\1/g, '').replace(/"[^"\n]*"/g, '""')
  if (own.trim() === '' && text.trim() === '') throw new Error('The text is empty.')
  for (const [pattern, what] of RULES) {
    const found = pattern.exec(own)
    if (found) throw new Error(`The text holds ${what}: "${found[0]}" in\n${text}`)
  }
}
