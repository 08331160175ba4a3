/** A text that fits its limit, and a note on what was cut. */
export interface Cut {
  text: string
  note: string | undefined
}

/** Cuts to `max` characters (UTF-16 units, as Discord and JSON count them). A cut text says so at its end. */
export function cutCharacters(text: string, max: number): Cut {
  return cut(text, max, part => part.length)
}

/** Cuts to `max` bytes of UTF-8. A cut text says so at its end. */
export function cutBytes(text: string, max: number): Cut {
  return cut(text, max, part => Buffer.byteLength(part))
}

function cut(text: string, max: number, measure: (part: string) => number): Cut {
  if (measure(text) <= max) return { text, note: undefined }
  const letters = [...text.toWellFormed()]
  const toHead = (count: number) => {
    const head = letters.slice(0, count).join('').trimEnd()
    return `${head}${closeFence(head)}${toEnd(letters.length - count)}`
  }
  let [low, high] = [0, letters.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (measure(toHead(middle)) <= max) low = middle
    else high = middle - 1
  }
  return { text: toHead(low), note: `cut, ${toNumber(letters.length - low)} characters are missing` }
}

function toEnd(missing: number): string {
  return missing === 0 ? '' : `\n… (${toNumber(missing)} more characters were cut)`
}

/** Closes a code fence that the cut left open: it would swallow the text after it. */
function closeFence(head: string): string {
  const fences = head.match(/^ {0,3}```/gm) ?? []
  return fences.length % 2 === 1 ? '\n```' : ''
}

function toNumber(count: number): string {
  return count.toLocaleString('en-US')
}
