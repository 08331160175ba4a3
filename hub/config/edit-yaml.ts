import { type Document, isMap, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { toCanonicalJson } from '../core/json.ts'
import { readDocument } from './yaml-document.ts'
import type { YamlSource } from './yaml-file.ts'

type Json = Record<string, unknown>
export type YamlPath = readonly string[]

/**
 * Returns the text with one key set to a value, or removed if the value is undefined; every other character,
 * comments too, stays. Throws `conflict`, with what to change by hand, where the file is written in a way that
 * cannot be changed safely.
 */
export function setKey({ file, text }: YamlSource, path: YamlPath, value: unknown): string {
  const { document, problems, counter } = readDocument(text)
  const expected = withKey(toJson(document), path, value)
  const changed = edit(text, document, path, value)
  if (problems.length === 0 && says(changed, expected)) return changed
  const key = document.contents && pairAt(document.contents, path)?.key
  const line = key ? `:${counter.linePos(rangeOf(key)[0]).line}` : ''
  throw new HubError(
    'conflict',
    `${file}${line}: cannot be changed safely. Do it by hand: ${describeByHand(path, value)}`,
  )
}

/** Returns the text with an item added to, or removed from, the list at a path, as `setKey` does. */
export function changeList(
  { file, text }: YamlSource,
  path: YamlPath,
  item: unknown,
  change: 'add' | 'remove',
): string {
  const { document } = readDocument(text)
  const found = path.reduce<unknown>(
    (inner, key) => (isObject(inner) ? inner[key] : undefined),
    toJson(document),
  )
  const before: unknown[] = Array.isArray(found) ? found : []
  const isItem = (one: unknown) => toCanonicalJson(one) === toCanonicalJson(item)
  if (before.some(isItem) === (change === 'add')) return text
  const after = change === 'add' ? [...before, item] : before.filter(one => !isItem(one))
  const list = document.contents && pairAt(document.contents, path)?.value
  const changed =
    isSeq(list) && before.length > 0
      ? editList(text, list, item, change === 'add' ? -1 : before.findIndex(isItem))
      : undefined
  if (changed !== undefined && after.length > 0 && says(changed, withKey(toJson(document), path, after)))
    return changed
  return setKey({ file, text }, path, after.length > 0 ? after : undefined)
}

/** Says what a person writes or deletes in place of the hub. */
export function describeByHand(path: YamlPath, value: unknown): string {
  if (value === undefined) return `delete the key ${path.join('.')}`
  const lines = path.map((key, depth) => `${'  '.repeat(depth)}${key}:`)
  return `write\n${lines.join('\n')} ${toFlow(value)}`
}

export function says(text: string, expected: Json): boolean {
  const { document, problems } = readDocument(text)
  if (problems.length > 0) return false
  try {
    return toCanonicalJson(toJson(document)) === toCanonicalJson(expected)
  } catch (error) {
    // The removed text held the anchor of an alias that is still there.
    if (error instanceof ReferenceError) return false
    throw error
  }
}

export function toJson(document: Document): Json {
  const value: unknown = document.toJS()
  return isObject(value) ? value : {}
}

/** Inserts a key at the beginning of a mapping, indented and quoted like the mapping. */
export function insert(text: string, map: YAMLMap, key: string, value: string): string {
  const [from] = rangeOf(map)
  if (map.flow) {
    const rest = map.items.length > 0 ? ', ' : ' '
    return `${text.slice(0, from + 1)} "${key}": ${value}${rest}${text.slice(from + 1).trimStart()}`
  }
  const indent = text.slice(text.lastIndexOf('\n', from - 1) + 1, from)
  return `${text.slice(0, from)}${key}: ${value}\n${indent}${text.slice(from)}`
}

function withKey(whole: Json, [key = '', ...rest]: YamlPath, value: unknown): Json {
  const { [key]: inner, ...others } = whole
  if (rest.length === 0) return value === undefined ? others : { ...whole, [key]: value }
  if (value === undefined && !isObject(inner)) return whole
  return { ...whole, [key]: withKey(isObject(inner) ? inner : {}, rest, value) }
}

function edit(text: string, { contents }: Document, path: YamlPath, value: unknown): string {
  let node: unknown = contents
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1)
    if (node === null && value !== undefined) return append(text, path, value)
    // A list is no place for a key, and an alias stands for what is written elsewhere.
    if (!isMap(node))
      return isScalar(node) && value !== undefined
        ? replace(text, node, toFlow(nest(path.slice(depth), value)))
        : text
    const pair = pairOf(node, key)
    if (!pair && value === undefined) return text
    if (!pair && depth === 0 && !node.flow) return append(text, path, value)
    if (!pair) return insert(text, node, key, toFlow(nest(rest, value)))
    if (rest.length === 0)
      return value === undefined ? cut(text, node, pair) : replace(text, pair.value, toFlow(value))
    node = pair.value ?? pair
  }
  return text
}

/** Adds a key at the end of a file, on a line of its own. */
function append(text: string, [first = '', second, ...rest]: YamlPath, value: unknown): string {
  const inner = second === undefined ? ` ${toFlow(value)}` : `\n  ${second}: ${toFlow(nest(rest, value))}`
  return `${endsLine(text)}${first}:${inner}\n`
}

function endsLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function nest(path: YamlPath, value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value)
}

/** Writes a value as JSON with spaces, which is YAML too. */
function toFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toFlow).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${toFlow(inner)}`)
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

export function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && key.value === name)
}

function pairAt(contents: unknown, path: YamlPath): Pair | undefined {
  let pair: Pair | undefined
  let node = contents
  for (const key of path) {
    if (!isMap(node)) return pair
    pair = pairOf(node, key) ?? pair
    node = pairOf(node, key)?.value
  }
  return pair
}

/** Returns where a node begins and where its own text ends. */
function rangeOf(node: unknown): [number, number] {
  const range = isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined
  return range ? [range[0], range[1]] : [0, 0]
}

function replace(text: string, node: unknown, by: string): string {
  const [from, to] = [rangeOf(node)[0], rangeOf(node)[0] + lengthOf(text, node)]
  return text.slice(0, from) + (from === to ? ' ' : '') + by + text.slice(to)
}

/** Returns the length of a node's text; that of a block ends before the comments and blank lines after it. */
function lengthOf(text: string, node: unknown): number {
  const [from, to] = rangeOf(node)
  return text.slice(from, to).trimEnd().length
}

/** Adds an item at the end, or removes the one at an index; undefined where that has several lines. */
function editList(text: string, list: YAMLSeq, item: unknown, removed: number): string | undefined {
  const node = list.items.at(removed)
  const range = isScalar(node) || isMap(node) ? node.range : undefined
  if (!range) return undefined
  const from = range[0]
  const to = from + lengthOf(text, node)
  const isLong = !list.flow && text.slice(from, to).includes('\n')
  if (removed >= 0) return isLong ? undefined : cutItem(text, list, range)
  if (list.flow) return `${text.slice(0, to)}, ${toFlow(item)}${text.slice(to)}`
  const lineEnd = text.indexOf('\n', to)
  const end = lineEnd < 0 ? text.length : lineEnd
  const start = text.lastIndexOf('\n', from - 1) + 1
  return `${text.slice(0, end)}\n${text.slice(start, from)}${toFlow(item)}${text.slice(end)}`
}

function cutItem(text: string, list: YAMLSeq, [from, to]: readonly number[]): string {
  return list.flow ? cutFlow(text, from ?? 0, to ?? 0) : cutLines(text, from ?? 0, to ?? 0)
}

/** Removes a key of a mapping: whole lines of a block, else up to the neighbor's comma. */
function cut(text: string, map: YAMLMap, pair: Pair): string {
  const [from] = rangeOf(pair.key)
  const to = from + text.slice(from, endOf(pair)).trimEnd().length
  if (map.items.length === 1) {
    if (map.flow) return `${text.slice(0, from).trimEnd()}${text.slice(to).trimStart()}`
    return `${text.slice(0, from)}{}${text.slice(to)}`
  }
  return map.flow ? cutFlow(text, from, to) : cutLines(text, from, to)
}

function cutFlow(text: string, from: number, to: number): string {
  const after = /^\s*,\s*/.exec(text.slice(to))?.[0].length
  if (after !== undefined) return text.slice(0, from) + text.slice(to + after)
  return text.slice(0, from).replace(/,\s*$/, '') + text.slice(to)
}

function cutLines(text: string, from: number, to: number): string {
  const lineEnd = text.indexOf('\n', to)
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  return text.slice(0, lineStart) + (lineEnd < 0 ? '' : text.slice(lineEnd + 1))
}

/** Returns where the last line of a pair's value ends, without the comments and blank lines after it. */
function endOf({ key, value }: Pair): number {
  if (isMap(value) && value.flow !== true) {
    const last = value.items.at(-1)
    if (last) return endOf(last)
  }
  const range = typeof value === 'object' && value !== null && 'range' in value ? value.range : undefined
  return Array.isArray(range) ? Number(range[1]) : rangeOf(key)[1]
}
