import type { Tile, TileRow, Tone } from '../../schemas/house.ts'
import { isObject } from '../core/forwarding.ts'
import { toLine, toSpan, truncate } from '../core/text.ts'
import type { RowSpec, Template, TileSpec, ToneRule } from './tile-specs.ts'

/** Rows of one list; where there are more, the worst are shown. */
const MOST_ROWS = 8
const LONGEST_TEXT = 300
const TONES: readonly Tone[] = ['bad', 'warn', 'good']

type Filled = Pick<Tile, 'title' | 'rows'> & Partial<Pick<Tile, 'summary' | 'more'>>

/** Fills a tile with a tool's structured result; undefined where that has nothing to show. */
export function toTile(spec: TileSpec, data: unknown): Filled | undefined {
  const lists = spec.rows.map(rows => toRows(rows, data))
  const found = lists.flat()
  if (found.length === 0 && spec.none === undefined) return undefined
  const shown = lists.flatMap(rows => pickWorst(rows))
  const summary = found.length === 0 ? spec.none : spec.summary && fill(spec.summary, data)
  return {
    title: fill(spec.title, data) ?? spec.tool,
    rows: shown,
    ...(summary === undefined ? {} : { summary }),
    ...(found.length > shown.length ? { more: found.length - shown.length } : {}),
  }
}

/** Returns the values of further tiles that a result names. */
export function furtherValues({ each }: TileSpec, data: unknown): string[] {
  const values = each && valueAt(data, each.list)
  return Array.isArray(values) ? values.filter(value => typeof value === 'string') : []
}

function toRows(spec: RowSpec, data: unknown): TileRow[] {
  if (spec.list === undefined) return [toRow(spec, data)].filter(({ text }) => text !== '')
  const items = valueAt(data, spec.list)
  return Array.isArray(items) ? items.map(item => toRow(spec, item)) : []
}

function toRow({ name, text, bar, tones = [] }: RowSpec, item: unknown): TileRow {
  const percent = bar === undefined ? undefined : valueAt(item, bar)
  const tone = tones.map(rule => toneOf(rule, item)).find(found => found !== undefined)
  return {
    name: fill(name, item) ?? '?',
    text: text.flatMap(part => fill(part, item) ?? []).join(' · '),
    ...(typeof percent === 'number' ? { percent: Math.min(100, Math.max(0, percent)) } : {}),
    ...(tone === undefined ? {} : { tone }),
  }
}

function toneOf(rule: ToneRule, item: unknown): Tone | undefined {
  const value = valueAt(item, rule.of)
  return TONES.find(tone => {
    const wanted = rule[tone]
    if (wanted === undefined) return false
    if (wanted === true) return !isAbsent(value)
    if (typeof wanted === 'number') return typeof value === 'number' && value >= wanted
    return wanted.includes(String(value).toLowerCase())
  })
}

function pickWorst(rows: readonly TileRow[]): TileRow[] {
  if (rows.length <= MOST_ROWS) return [...rows]
  const rank = ({ tone }: TileRow) => (tone === 'bad' ? 0 : tone === 'warn' ? 1 : 2)
  return rows.toSorted((a, b) => rank(a) - rank(b)).slice(0, MOST_ROWS)
}

/** Fills a template; undefined where no alternative has all of its fields. */
function fill(template: Template, item: unknown): string | undefined {
  return template
    .split('|')
    .map(alternative => fillOne(alternative, item))
    .find(text => text !== undefined)
}

function fillOne(template: string, item: unknown): string | undefined {
  let isWhole = true
  const text = template.replaceAll(/\{([^}:]+)(?::([^}]+))?\}/g, (_, path: string, unit?: string) => {
    const value = valueAt(item, path)
    if (isAbsent(value)) isWhole = false
    return toText(value, unit)
  })
  return isWhole ? truncate(toLine(text), LONGEST_TEXT) : undefined
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === false || isEmptyList(value)
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function valueAt(item: unknown, path: string): unknown {
  if (path === '.') return item
  return path.split('.').reduce((value, key) => (isObject(value) ? value[key] : undefined), item)
}

function toText(value: unknown, unit: string | undefined): string {
  if (unit?.startsWith('=')) return unit.slice(1)
  if (Array.isArray(value)) return value.map(String).join(', ')
  if (typeof value !== 'number') return String(value)
  switch (unit) {
    case 'percent':
      return `${Math.round(value)} %`
    case 'celsius':
      return `${Math.round(value)} °C`
    case 'bytes':
      return toBytes(value)
    case 'rate':
      return `${toBytes(value)}/s`
    case 'span':
      return toSpan(value * 1000)
    default:
      return value.toLocaleString('en')
  }
}

function toBytes(bytes: number): string {
  const steps = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  const step = bytes < 1 ? 0 : Math.min(steps.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** step
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 && step > 0 ? 1 : 0 })} ${steps[step]}`
}
