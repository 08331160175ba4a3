/** Characters of Discord's longest message. */
const LONGEST = 2_000
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/

/**
 * Splits a text into messages. Each ends at a paragraph, a line or a word where it can. A code block that is
 * cut ends in its message and goes on in the next one.
 */
export function splitText(text: string, longest = LONGEST): string[] {
  const parts: string[] = []
  let rest = text.trim()
  while (rest.length > longest) {
    // A cut block needs room for its closing line.
    const cut = findCut(rest, longest - ROOM)
    const fence = openFence(rest.slice(0, cut))
    const part = rest.slice(0, cut).trimEnd()
    parts.push(fence === undefined ? part : `${part}\n${fence.mark}`)
    rest =
      fence === undefined
        ? rest.slice(cut).trimStart()
        : `${fence.line}\n${rest.slice(cut).replace(/^\n/, '')}`
  }
  return rest === '' ? parts : [...parts, rest]
}

const ROOM = 12

/**
 * Finds where to cut: after the last paragraph, line or word in the second half, else anywhere but within a
 * character.
 */
function findCut(text: string, longest: number): number {
  const head = text.slice(0, longest)
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(mark)
    if (at > longest / 2) return at + 1
  }
  return /[\uD800-\uDBFF]$/.test(head) ? longest - 1 : longest
}

/** Returns the fence of the code block that a text leaves open, and the line that opened it. */
function openFence(text: string): { mark: string; line: string } | undefined {
  let open: { mark: string; line: string } | undefined
  for (const line of text.split('\n')) {
    const [, mark = '', info = ''] = FENCE.exec(line) ?? []
    if (mark === '') continue
    if (open === undefined) open = { mark, line: `${mark}${info}`.slice(0, 40) }
    else if (mark.startsWith(open.mark) && info.trim() === '') open = undefined
  }
  return open
}
