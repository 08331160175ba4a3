import createDOMPurify from 'dompurify'
import { Marked, type Token, type TokensList } from 'marked'

/** Tags that a model's text may contain as HTML; any other HTML is shown as text (`<server-name>`). */
const PLAIN_TAG = /^<\/?(?:b|i|em|strong|u|s|del|sub|sup|kbd|br|mark|details|summary)\s*\/?>$/i

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function plainTagsOnly(raw: string) {
  const tags = raw.match(/<[^>]*>?/g) ?? []
  return tags.every(tag => PLAIN_TAG.test(tag)) ? raw : escapeHtml(raw)
}

const marked = new Marked({
  gfm: true,
  // Line breaks of tools and people are meant.
  breaks: true,
  renderer: {
    html: ({ text }) => plainTagsOnly(text),
    // Headings of a message are below the page's own, whatever depth the model chose.
    heading({ tokens, depth }) {
      return `<h2 class="md-h md-h${depth}">${this.parser.parseInline(tokens)}</h2>\n`
    },
    // The page loads nothing from elsewhere, so that a picture becomes a link.
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

/** Quotes and lists within each other that are shown as such. */
const DEEPEST = 20
/** The sum over all paragraphs of a text of the square of their characters: marked's time grows like that. */
const MOST_WORK = 8_000 ** 2

/** Leaves as plain text what nests too deep, or would take too long: neither breaks or holds up the page. */
class BoundedLexer extends marked.Lexer {
  #depth = 0
  #work = 0

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    if (this.#depth === DEEPEST) {
      tokens.push({ type: 'paragraph', raw: source, text: source, tokens: toPlain(source) })
      return tokens
    }
    this.#depth++
    super.blockTokens(source, tokens, isClipped)
    this.#depth--
    return tokens
  }

  override inlineTokens(source: string, tokens: Token[] = []) {
    this.#work += source.length ** 2
    if (this.#work <= MOST_WORK) return super.inlineTokens(source, tokens)
    tokens.push(...toPlain(source))
    return tokens
  }
}

/**
 * Returns the HTML and source of each top-level block of a text. Equal sources give equal HTML, so that a
 * growing text changes only at its end. The HTML is not sanitized: `toFragment` does that.
 */
export function toBlocks(text: string): { raw: string; html: string }[] {
  const tokens = new BoundedLexer(marked.defaults).lex(text)
  return tokens
    .filter(token => token.type !== 'space' && token.type !== 'def')
    .map(token => ({ raw: token.raw, html: String(marked.parser([token])) }))
}

function toPlain(source: string): Token[] {
  const lines = source.split('\n').map(line => ({ type: 'text', raw: line, text: line, escaped: false }))
  return lines.flatMap((line, i) => (i === 0 ? [line] : [{ type: 'br', raw: '\n' }, line]))
}

/**
 * Closes the open ends of a text that is still being written, so that it does not flicker between raw and
 * formatted: half a link becomes its words, an open `**bold` bold, an open code span code.
 */
export function closeOpenEnds(text: string) {
  const cut = text.lastIndexOf('\n\n') + 1
  const head = text.slice(0, cut)
  const tail = text.slice(cut)
  if (insideFence(text)) return text
  return head + closeMarks(tail.replace(/!?\[([^\]\n]*)(?:\]\([^)\n]*)?$/, '$1'))
}

function insideFence(text: string) {
  return (text.match(/^ {0,3}(?:```|~~~)/gm) ?? []).length % 2 === 1
}

function closeMarks(tail: string) {
  const trimmed = tail.replace(/(?:\*{1,3}|`|~{1,2})$/, '')
  const code = (trimmed.match(/`/g) ?? []).length % 2 === 1
  if (code) return `${trimmed}\``
  const bold = (trimmed.match(/\*\*/g) ?? []).length % 2 === 1
  return bold ? `${trimmed.trimEnd()}**` : trimmed
}

const ALLOWED = {
  ALLOWED_TAGS:
    'p br hr h2 ul ol li blockquote pre code em strong b i u s del sub sup kbd mark details summary table thead tbody tr th td a'.split(
      ' ',
    ),
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'class', 'open'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ADD_URI_SAFE_ATTR: ['align', 'start', 'open'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
}

let purify: ReturnType<typeof createDOMPurify> | undefined

/** Returns HTML as nodes that are safe to show. Works only in a browser. */
export function toFragment(source: string): DocumentFragment {
  purify ??= preparePurify()
  return purify.sanitize(source, ALLOWED)
}

function preparePurify() {
  const instance = createDOMPurify(window)
  instance.addHook('afterSanitizeAttributes', node => {
    if (node.nodeName === 'A' && node.hasAttribute('href')) {
      node.setAttribute('target', '_blank')
      node.setAttribute('rel', 'noopener noreferrer')
    }
    if (!/^(?:md-|language-)/.test(node.getAttribute?.('class') ?? 'md-')) node.removeAttribute('class')
  })
  return instance
}
