import { dirname } from 'node:path'
import type { z } from 'zod'
import { toProblems } from '../../schemas/problems.ts'
import { describeError, HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import type { Environment } from './environment.ts'
import { withoutComments } from './json-comments.ts'
import { expand, findForeign } from './variables.ts'
import { readDocument, refuseDeep, type YamlDocument } from './yaml-document.ts'

/** A text and its place, for messages that name file and line. */
export interface YamlSource {
  file: string
  text: string
  /** Lines before the text in its file. */
  lineOffset?: number
}

/** Most problems that are listed: nobody reads more at once. */
const MOST_PROBLEMS = 50

/** A `${…}` that has no value, and its place. */
export interface Missing {
  path: readonly PropertyKey[]
  problem: string
  /** True where only another client knows it: an error in a server's entry, elsewhere plain text. */
  foreign?: true
}

export interface YamlOptions {
  environment: Environment
  /** Returns the value for the schema, and the missing variables that make the whole wrong (default all). */
  prepare?: (value: unknown, missing: readonly Missing[]) => { value: unknown; missing: readonly Missing[] }
}

/**
 * Parses YAML (JSON is YAML too, with comments or without) with a schema. One `bad_request` reports all
 * problems, each with file, line, key and reason.
 */
export function parseYaml<Schema extends z.ZodType>(
  source: YamlSource,
  schema: Schema,
  { environment, prepare }: YamlOptions,
): z.output<Schema> {
  const fail = (problems: string[]): never => {
    throw new HubError('bad_request', problems.map(problem => `${source.file}${problem}`).join('\n'))
  }
  const written = toValue(source.text)
  if ('unreadable' in written) return fail([`: cannot be read: ${written.unreadable}`])
  const lineAt = ({ counter }: YamlDocument, offset: number) =>
    counter.linePos(offset).line + (source.lineOffset ?? 0)
  if ('problems' in written) {
    // Only the first problem of a line is reported: the others follow from it.
    const byLine = Map.groupBy(written.problems, ({ offset }) => lineAt(written, offset))
    const told = [...byLine].slice(0, MOST_PROBLEMS)
    return fail(told.map(([line, [first]]) => `:${line}: ${first?.message}`))
  }
  const failAt = (problems: readonly Missing[]): never => {
    const read = readDocument(source.text)
    const lineOf = (path: readonly PropertyKey[]): number => {
      for (let length = path.length; length > 0; length--) {
        const node = read.document.getIn(path.slice(0, length), true)
        if (hasRange(node)) return lineAt(read, node.range[0])
      }
      return 1 + (source.lineOffset ?? 0)
    }
    const told = problems.slice(0, MOST_PROBLEMS).map(({ path, problem }) => {
      return `:${lineOf(path)}: ${path.join('.') || 'the whole'}: ${problem}`
    })
    const rest = problems.length - told.length
    return fail(rest > 0 ? [...told, `: ${rest} more problems`] : told)
  }
  const expanded = expandTexts(written.value ?? {}, dirname(source.file), environment)
  const prepared = prepare?.(expanded.value, expanded.missing)
  const value = prepared ? prepared.value : expanded.value
  const missing = prepared?.missing ?? expanded.missing.filter(({ foreign }) => !foreign)
  if (missing.length > 0) return failAt(missing)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  return failAt(parsed.error.issues.flatMap(toProblems))
}

/** Parses JSON as JSON, since YAML would read parts of it differently. */
function toValue(text: string): { value: unknown } | { unreadable: string } | YamlDocument {
  try {
    refuseDeep(text)
    const value = parseJson(withoutComments(text))
    if (value !== undefined) return { value }
    const read = readDocument(text)
    return read.problems.length > 0 ? read : { value: read.document.toJS() }
  } catch (error) {
    // The parser itself may throw: aliases of aliases may stand for more than any memory holds.
    return { unreadable: describeError(error) }
  }
}

function expandTexts(written: unknown, folder: string, environment: Environment) {
  const missing: Missing[] = []
  const around = { environment, folder, inputs: readInputs(written) }
  const value = mapTexts(written, [], (text, path) => {
    for (const one of findForeign(text)) {
      const problem = `${one} is what only another client can fill in; write the value`
      missing.push({ path, problem, foreign: true })
    }
    return expand(text, around, problem => missing.push({ path, problem }))
  })
  return { value, missing }
}

/** Returns the defaults of the inputs that VS Code would ask a person for. */
function readInputs(value: unknown): ReadonlyMap<string, string | undefined> {
  const settings = isObject(value) && isObject(value['mcp']) ? value['mcp'] : value
  const inputs: unknown[] = isObject(settings) && Array.isArray(settings['inputs']) ? settings['inputs'] : []
  return new Map(
    inputs.filter(isObject).map(({ id, default: given }) => {
      return [String(id), typeof given === 'string' ? given : undefined]
    }),
  )
}

/** Returns the keys of the text itself; none where it is no mapping. */
export function keysWritten(text: string): string[] {
  const value: unknown = readDocument(text).document.toJS()
  return isObject(value) ? Object.keys(value) : []
}

/** Returns the texts of a file that contain `${…}`, as written, by their expanded form. */
export function textsExpanded({ file, text }: YamlSource, environment: Environment): Map<string, string> {
  const texts = new Map<string, string>()
  const written: unknown = readDocument(text).document.toJS()
  const around = { environment, folder: dirname(file), inputs: readInputs(written) }
  mapTexts(written, [], each => {
    const expanded = expand(each, around, () => undefined)
    if (expanded !== each) texts.set(expanded, each)
    return expanded
  })
  return texts
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function mapTexts(
  value: unknown,
  path: PropertyKey[],
  change: (text: string, path: PropertyKey[]) => string,
): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((inner, index) => mapTexts(inner, [...path, index], change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, [...path, key], change)]),
  )
}
