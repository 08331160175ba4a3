/** Where a text stops being JSON (0-based); undefined where it is JSON throughout. */
export function findJsonError(text: string): number | undefined {
  const end = skipValue(text, 0)
  if (end < 0) return -end - 1
  const rest = skipSpace(text, end)
  return rest < text.length ? rest : undefined
}

const LITERAL =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy
const MOST_DEEP = 200

/** The place after the value that begins here, or minus one minus the place of the error. */
function skipValue(text: string, start: number, depth = 0): number {
  const at = skipSpace(text, start)
  const open = text[at]
  if (open === '{' || open === '[') return depth < MOST_DEEP ? skipItems(text, at, depth) : failed(at)
  LITERAL.lastIndex = at
  return LITERAL.test(text) ? LITERAL.lastIndex : failed(at)
}

function skipItems(text: string, start: number, depth: number): number {
  const close = text[start] === '{' ? '}' : ']'
  let at = skipSpace(text, start + 1)
  if (text[at] === close) return at + 1
  for (;;) {
    const value = close === '}' ? skipKey(text, at) : at
    const end = value < 0 ? value : skipValue(text, value, depth + 1)
    if (end < 0) return end
    at = skipSpace(text, end)
    if (text[at] === close) return at + 1
    if (text[at] !== ',') return failed(at)
    at++
  }
}

function skipKey(text: string, start: number): number {
  const at = skipSpace(text, start)
  if (text[at] !== '"') return failed(at)
  const colon = skipSpace(text, Math.max(skipValue(text, at), at))
  return text[colon] === ':' ? colon + 1 : failed(colon)
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (/[ \t\r\n]/.test(text[at] ?? '')) at++
  return at
}

function failed(at: number): number {
  return -at - 1
}
