/** Takes what a model thinks aloud out of its text, piece by piece. Pieces that come out have no outer whitespace. */
export interface ThinkingFilter {
  /** What of the text so far may be shown now. */
  push(piece: string): string
  /** The rest, once the text has ended. */
  end(): string
}

const TAGS = ['<think>', '<thinking>']

/**
 * A block is `<think>…</think>` or `<thinking>…</thinking>` whose opening tag stands at the start of the text or
 * after whitespace; one that is never closed takes all that follows. The whitespace after a block goes with it. Where
 * only the start is looked at, a tag behind the first word is text: of models whose thoughts come apart.
 */
export function createThinkingFilter(where: 'anywhere' | 'start' = 'anywhere'): ThinkingFilter {
  /** Text whose fate is open: the start of a tag, outside a block or in it. */
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
    push(piece) {
      held += piece
      let shown = ''
      for (let was = Number.POSITIVE_INFINITY; held.length < was; ) {
        was = held.length
        if (closing === undefined) shown += open()
        else close(closing)
      }
      return shown
    },
    end() {
      const rest = closing === undefined ? out.push(held) : ''
      held = ''
      return rest
    },
  }
}

/** Where a tag begins that opens a block, or may once more text has come; the text's length where none does. */
function findTag(text: string, boundary: boolean): number {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (at === 0 ? !boundary : !/\s/.test(text.charAt(at - 1))) continue
    const rest = text.slice(at, at + 10)
    if (TAGS.some(tag => rest.startsWith(tag) || tag.startsWith(rest))) return at
  }
  return text.length
}

/** Drops whitespace at the start, at the end, and where told to skip it. */
function createTrimmer() {
  let started = false
  let skipping = false
  let spaces = ''
  return {
    /** Something came out. */
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

/** A whole text without its thoughts. */
export function dropThoughts(text: string): string {
  const filter = createThinkingFilter()
  return filter.push(dropUnopenedThought(text)) + filter.end()
}

/** What Markdown shows as code: a tag in it is mentioned, not meant. */
const CODE = /```[\s\S]*?```|`[^`\n]+`/g

/**
 * Some providers' chat templates swallow the opening tag (DeepSeek R1, Qwen3 Thinking without a reasoning parser): all
 * up to a closing tag is thought where no opening tag comes before it.
 */
function dropUnopenedThought(text: string): string {
  const prose = text.replace(CODE, code => ' '.repeat(code.length))
  const tag = /<\/?think(?:ing)?>/.exec(prose)
  return tag?.[0].startsWith('</') ? text.slice(tag.index + tag[0].length) : text
}
