/**
 * Tells whether `name` fits a pattern in which `*` stands for any run of characters. It avoids regular
 * expressions: patterns come from models and clients, and many stars would take for ever on a long text.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === name
  if (name.length < first.length + last.length) return false
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Tells whether a list of globs includes `name`: the last glob that fits decides, and `!glob` excludes. */
export function matchesGlobs(patterns: readonly string[], name: string): boolean {
  return patterns.reduce((taken, pattern) => {
    const without = pattern.startsWith('!')
    return matchesGlob(without ? pattern.slice(1) : pattern, name) ? !without : taken
  }, false)
}
