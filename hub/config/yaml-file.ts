import { dirname } from 'node:path'
import type { z } from 'zod'
import { toProblems } from '../../schemas/problems.ts'
import { describeError, HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import type { Environment } from './environment.ts'
import { withoutComments } from './json-comments.ts'
import { expand, findForeign } from './variables.ts'
import { readDocument, refuseDeep, type YamlDocument } from './yaml-document.ts'

/** A text with where it stands, for messages that name file and line. */
export interface YamlSource {
  file: string
  text: string
  /** Lines before the text in its file. */
  lineOffset?: number
}

/** More problems than anybody reads at once. */
const MOST_PROBLEMS = 50

/** A `${…}` that has no value, and where it stands. */
export interface Missing {
  path: readonly PropertyKey[]
  problem: string
  /** Only another client knows what it is: wrong in a server's entry, elsewhere a text like any other. */
  foreign?: true
}

export interface YamlOptions {
  environment: Environment
  /** What the schema gets in place of the value, and what of the missing makes the whole wrong; default all of it. */
  prepare?: (value: unknown, missing: readonly Missing[]) => { value: unknown; missing: readonly Missing[] }
}

/**
 * Parses YAML (JSON is YAML too, with comments or without) with a schema. Every problem is reported at once, each with
 * file, line, key and reason, as one `bad_request`.
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
    // What follows from the first problem of a line is left out.
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

/** JSON is parsed as JSON, whatever of it YAML would read otherwise. */
function toValue(text: string): { value: unknown } | { unreadable: string } | YamlDocument {
  try {
    refuseDeep(text)
    const value = parseJson(withoutComments(text))
    if (value !== undefined) return { value }
    const read = readDocument(text)
    return read.problems.length > 0 ? read : { value: read.document.toJS() }
  } catch (error) {
    // Also of the parser itself: aliases of aliases may stand for more than any memory holds.
    return { unreadable: describeError(error) }
  }
}

/** The values with what each `${…}` stands for. */
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

/** The defaults of what VS Code would ask a person. */
function readInputs(value: unknown): ReadonlyMap<string, string | undefined> {
  const settings = isRecord(value) && isRecord(value['mcp']) ? value['mcp'] : value
  const inputs: unknown[] = isRecord(settings) && Array.isArray(settings['inputs']) ? settings['inputs'] : []
  return new Map(
    inputs.filter(isRecord).map(({ id, default: given }) => {
      return [String(id), typeof given === 'string' ? given : undefined]
    }),
  )
}

/** The keys that stand in the text itself; none where it is no mapping. */
export function keysWritten(text: string): string[] {
  const value: unknown = readDocument(text).document.toJS()
  return isRecord(value) ? Object.keys(value) : []
}

/** The texts of a file in which `${…}` stands, as they are written, by what they become. */
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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
