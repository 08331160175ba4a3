export type ThinkingFilter = ReturnType<typeof createThinkingFilter>

const TAGS = ['<think>', '<thinking>']

/**
 * Creates a filter that removes blocks of thought from a text, piece by piece, and outer whitespace. A block
 * is `<think>…</think>` or `<thinking>…</thinking>` whose opening tag stands at the start of the text or after
 * whitespace. A block that is never closed takes the rest of the text, and the whitespace after a block goes
 * with it. With `start`, which is for models that send their thoughts apart, a tag behind the first word is
 * text.
 */
export function createThinkingFilter(where: 'anywhere' | 'start' = 'anywhere') {
  /** Text that is not decided yet: the start of a tag, outside a block or in it. */
  let held = ''
  let closing: string | undefined
  let boundary = true
  const out = createTrimmer()

  function open(): string {
    const tagAt = findTag(held, boundary)
    const isText = where === 'start' && (out.started || held.slice(0, tagAt).trim() !== '')
    const at = isText ? held.length : tagAt
    const before = held.slice(0, at)
    if (before !== '') boundary = /\s$/.test(before)
    held = held.slice(at)
    const tag = TAGS.find(each => held.startsWith(each))
    if (tag) {
      closing = `</${tag.slice(1)}`
      held = held.slice(tag.length)
    }
    return out.push(before)
  }

  function close(end: string) {
    const at = held.indexOf(end)
    held = at < 0 ? held.slice(1 - end.length) : held.slice(at + end.length)
    if (at < 0) return
    closing = undefined
    out.skip()
  }

  return {
    /** Returns the part of the text so far that may be shown now. */
    push(piece: string): string {
      held += piece
      let shown = ''
      for (let was = Number.POSITIVE_INFINITY; held.length < was; ) {
        was = held.length
        if (closing === undefined) shown += open()
        else close(closing)
      }
      return shown
    },
    /** Returns the rest, once the text has ended. */
    end(): string {
      const rest = closing === undefined ? out.push(held) : ''
      held = ''
      return rest
    },
  }
}

/**
 * Returns the index of a tag that opens a block, or may once more text has come; the text's length where none
 * does.
 */
function findTag(text: string, boundary: boolean): number {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (at === 0 ? !boundary : !/\s/.test(text.charAt(at - 1))) continue
    const rest = text.slice(at, at + 10)
    if (TAGS.some(tag => rest.startsWith(tag) || tag.startsWith(rest))) return at
  }
  return text.length
}

/** Creates a trimmer that drops whitespace at the start, at the end, and where it is told to skip it. */
function createTrimmer() {
  let started = false
  let skipping = false
  let spaces = ''
  return {
    /** True once text came out. */
    get started() {
      return started
    },
    push(text: string): string {
      const piece = started && !skipping ? text : text.trimStart()
      const core = piece.trimEnd()
      if (core === '') {
        spaces += piece
        return ''
      }
      const shown = spaces + core
      spaces = piece.slice(core.length)
      started = true
      skipping = false
      return shown
    },
    skip() {
      skipping = true
    },
  }
}

/** Returns a whole text without its thoughts. */
export function dropThoughts(text: string): string {
  const filter = createThinkingFilter()
  return filter.push(dropUnopenedThought(text)) + filter.end()
}

/** Code in Markdown: a tag in it is mentioned, not meant. */
const CODE = /```[\s\S]*?```|`[^`\n]+`/g

/**
 * Drops all text up to a closing tag without an opening tag before it: some providers' chat templates swallow
 * the opening tag (DeepSeek R1, Qwen3 Thinking without a reasoning parser).
 */
function dropUnopenedThought(text: string): string {
  const prose = text.replace(CODE, code => ' '.repeat(code.length))
  const tag = /<\/?think(?:ing)?>/.exec(prose)
  return tag?.[0].startsWith('</') ? text.slice(tag.index + tag[0].length) : text
}
