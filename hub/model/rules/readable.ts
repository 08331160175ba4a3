import { toLocal } from '../../core/clock.ts'
import { plural, toSpan, truncate } from '../../core/text.ts'
import { toParts } from './words.ts'

const MOST_ROWS = 15
const MOST_COLUMNS = 6
const MOST_ENTRIES = 30
const MOST_ITEMS = 20
const LONGEST_VALUE = 240
const DEEPEST = 4

interface Style {
  timezone: string
  depth: number
}
type Scalar = string | number | boolean | null

/** A JSON value as lines for a person: `key: value`, bullets, small tables in Markdown; cut with a count. */
export function toReadable(value: unknown, timezone: string): string {
  return render('', value, { timezone, depth: 0 }).join('\n').trim()
}

function render(key: string, value: unknown, style: Style): string[] {
  if (isScalar(value)) return [toText(key, value, style)]
  if (style.depth >= DEEPEST) return [`${'  '.repeat(style.depth)}- …`]
  if (Array.isArray(value)) return renderList(key, value, style)
  return renderObject(Object(value), style)
}

function isScalar(value: unknown): value is Scalar {
  return value === null || value === undefined || ['string', 'number', 'boolean'].includes(typeof value)
}

function renderObject(value: Record<string, unknown>, style: Style): string[] {
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  if (entries.length === 0) return ['nothing']
  const [only] = entries
  if (entries.length === 1 && only && style.depth === 0) {
    if (typeof only[1] === 'string' && only[1].length > LONGEST_VALUE / 4) return [only[1]]
    if (Array.isArray(only[1]) && only[1].length > 0) return renderList(only[0], only[1], style)
  }
  const lines = entries.slice(0, MOST_ENTRIES).flatMap(([key, inner]) => renderEntry(key, inner, style))
  return withMore(lines, entries.length - MOST_ENTRIES, 'value')
}

function renderEntry(key: string, inner: unknown, style: Style): string[] {
  const indent = '  '.repeat(style.depth)
  const label = toLabel(key)
  if (isScalar(inner)) return [`${indent}- ${label}: ${toText(key, inner, style)}`]
  const inline = toInline(inner, style)
  if (inline !== undefined) return [`${indent}- ${label}: ${inline}`]
  const lines = render(key, inner, { ...style, depth: style.depth + 1 })
  return [`${indent}- ${label}:`, ...(lines[0]?.startsWith('|') ? ['', ...lines, ''] : lines)]
}

/** Short lists of plain values and small objects stand on one line. */
function toInline(value: unknown, style: Style): string | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none'
    return value.length <= 8 && value.every(isScalar)
      ? value.map(each => toText('', each, style)).join(', ')
      : undefined
  }
  const entries = Object.entries(Object(value))
  if (entries.length === 0) return 'nothing'
  if (entries.length > 4 || !entries.every(([, inner]) => isScalar(inner))) return undefined
  return entries.map(([key, inner]) => `${toLabel(key)} ${toText(key, inner as Scalar, style)}`).join(', ')
}

function renderList(key: string, list: unknown[], style: Style): string[] {
  if (list.length === 0) return ['none']
  const columns = toColumns(list)
  if (columns) return renderTable(list as Record<string, Scalar>[], columns, style)
  const indent = '  '.repeat(style.depth)
  const lines = list.slice(0, MOST_ITEMS).flatMap(item => {
    const inline = isScalar(item) ? toText(key, item, style) : toInline(item, style)
    if (inline !== undefined) return [`${indent}- ${inline}`]
    const [first = '', ...others] = render(key, item, { ...style, depth: style.depth + 1 })
    return [`${indent}- ${first.replace(/^\s*- /, '')}`, ...others]
  })
  return withMore(lines, list.length - MOST_ITEMS, 'item')
}

/** The columns of a list of flat objects; undefined where a table would not hold it. */
function toColumns(list: unknown[]): string[] | undefined {
  const flat = list.every(
    item => !isScalar(item) && !Array.isArray(item) && Object.values(Object(item)).every(isScalar),
  )
  if (!flat || list.length < 2) return undefined
  const columns = [...new Set(list.slice(0, MOST_ROWS).flatMap(item => Object.keys(Object(item))))]
  return columns.length > 0 && columns.length <= MOST_COLUMNS ? columns : undefined
}

function renderTable(rows: Record<string, Scalar>[], columns: string[], style: Style): string[] {
  const line = (cells: string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const body = rows
    .slice(0, MOST_ROWS)
    .map(row =>
      line(columns.map(column => (row[column] === undefined ? '' : toText(column, row[column], style)))),
    )
  const table = [line(columns.map(toLabel)), line(columns.map(() => '---')), ...body]
  return withMore(table, rows.length - MOST_ROWS, 'row')
}

function withMore(lines: string[], more: number, noun: string): string[] {
  return more > 0 ? [...lines, '', `… and ${plural(more, `more ${noun}`)}`] : lines
}

/** "usedBytes" → "used": the unit stands with the value. */
function toLabel(key: string): string {
  const parts = toParts(key)
  const last = parts.at(-1) ?? ''
  const kept =
    parts.length > 1 && /^(?:percent|pct|bytes|celsius|ms|seconds|secs)$/.test(last)
      ? parts.slice(0, -1)
      : parts
  return kept.join(' ') || key
}

function toText(key: string, value: Scalar, style: Style): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return toQuantity(key, value, style.timezone)
  return truncate(value.replace(/\s+/g, ' ').trim(), LONGEST_VALUE)
}

const LATEST_TIME = 8.64e15

function toQuantity(key: string, value: number, timezone: string): string {
  const rounded = String(Math.round(value * 100) / 100)
  if (/percent|pct$/i.test(key)) return `${Math.round(value * 10) / 10} %`
  if (/bytes$|^size$/i.test(key)) return toBytes(value)
  if (/(?:celsius|temp|temperature)$/i.test(key)) return `${rounded} °C`
  if (/(?:Ms|_ms|^ms|millis|milliseconds)$/.test(key)) return value >= 1000 ? toSpan(value) : `${rounded} ms`
  if (/(?:seconds|secs|uptime)$/i.test(key)) return toSpan(value * 1000)
  const isTime =
    /(?:at|time|timestamp|since|until|next|last|due|run)$/i.test(key) && value > 1e12 && value < LATEST_TIME
  return isTime ? toLocal(value, timezone) : rounded
}

function toBytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  const power =
    Math.abs(value) < 1 ? 0 : Math.min(Math.floor(Math.log2(Math.abs(value)) / 10), units.length - 1)
  const scaled = value / 1024 ** power
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : Math.round(scaled * 10) / 10} ${units[power]}`
}
