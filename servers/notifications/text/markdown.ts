import type { MarkedToken, RendererObject, Token, Tokens } from 'marked'
import { escapeHtml, fromEntities } from './entities.ts'

/**
 * Matches nesting of 50 levels: no real quotation or list is so deep, and it would use up the parser's stack.
 */
const DEEP = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){50}/m

/**
 * Parses Markdown into blocks; text that is nested too deeply is one plain block. The parser is loaded at the
 * first use.
 */
export async function parse(markdown: string): Promise<MarkedToken[]> {
  if (DEEP.test(markdown)) return [{ type: 'text', raw: markdown, text: markdown }]
  const { lexer } = await import('marked')
  return lexer(markdown) as MarkedToken[]
}

/** Converts Markdown to plain text, as a person would type it. */
export async function toPlain(markdown: string): Promise<string> {
  return joinBlocks(await parse(markdown), '\n\n').trim()
}

function joinBlocks(tokens: readonly Token[], between: string): string {
  return tokens
    .map(token => toPlainToken(token as MarkedToken))
    .filter(text => text !== '')
    .join(between)
}

function inline(tokens: readonly Token[] | undefined, text = ''): string {
  return tokens === undefined
    ? fromEntities(text)
    : tokens.map(token => toPlainToken(token as MarkedToken)).join('')
}

function toPlainToken(token: MarkedToken): string {
  switch (token.type) {
    case 'space':
    case 'def':
      return ''
    case 'hr':
      return '---'
    case 'br':
      return '\n'
    case 'code':
    case 'codespan':
      return token.text
    case 'blockquote':
      return joinBlocks(token.tokens, '\n').replace(/^/gm, '> ')
    case 'list':
      return token.items.map((item, index) => toPlainItem(token, item, index)).join('\n')
    case 'table':
      return toPlainTable(token)
    case 'link':
      return toPlainLink(inline(token.tokens), token.href)
    case 'image':
      return toPlainLink(token.text, token.href)
    case 'html':
      return token.block ? token.text.trim() : token.text
    default:
      return inline('tokens' in token ? token.tokens : undefined, 'text' in token ? token.text : token.raw)
  }
}

function toPlainItem(list: Tokens.List, item: Tokens.ListItem, index: number): string {
  const mark = list.ordered ? `${Number(list.start) + index}.` : '-'
  const task = item.task ? `[${item.checked ? 'x' : ' '}] ` : ''
  const inner = item.tokens.filter(token => token.type !== 'checkbox')
  return `${mark} ${task}${joinBlocks(inner, '\n').replaceAll('\n', '\n  ')}`
}

function toPlainLink(text: string, href: string): string {
  return text === '' || text === href ? href : `${text} (${href})`
}

/** Formats a table as lines with columns of one width. */
export function toPlainTable(table: Tokens.Table): string {
  const rows = [table.header, ...table.rows].map(row => row.map(cell => inline(cell.tokens)))
  const widths = table.header.map((_cell, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/**
 * Converts Markdown to HTML that is safe in a mail: it has only elements made here, the rest of the text is
 * escaped, links lead to http, https and mailto only, and pictures are links.
 */
export async function toHtml(markdown: string): Promise<string> {
  const tokens = await parse(markdown)
  const { Marked } = await import('marked')
  return new Marked({ renderer: safely }).parser(tokens)
}

/** The parts of HTML that marked would pass on as they are, or that a mail must not have. */
const safely: RendererObject = {
  html: ({ text }) => escapeHtml(text),
  text(token) {
    const inner = 'tokens' in token ? token.tokens : undefined
    return inner ? this.parser.parseInline(inner) : escapeHtml(fromEntities(token.text))
  },
  code: ({ text }) => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
  checkbox: ({ checked }) => `${checked ? '☑' : '☐'} `,
  link({ tokens, href }) {
    return toHtmlLink(this.parser.parseInline(tokens), href)
  },
  image: ({ text, href }) => toHtmlLink(escapeHtml(text || href), href),
}

function toHtmlLink(text: string, href: string): string {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return text
  return `<a href="${escapeHtml(href)}">${text}</a>`
}
