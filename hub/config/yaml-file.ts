import { dirname } from 'node:path'
import { type Alias, type Document, LineCounter, parseDocument, visit, type YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { describeError, HubError } from '../core/errors.ts'
import type { Environment } from './environment.ts'
import { withoutComments } from './json-comments.ts'
import { expand } from './variables.ts'

/** A text with where it stands, for messages that name file and line. */
export interface YamlSource {
  file: string
  text: string
  /** Lines before the text in its file. */
  lineOffset?: number
}

const NEEDS_QUOTES = 'a text that begins with * needs quotes'

/** A `${…}` that has no value, and where it stands. */
export interface Missing {
  path: readonly PropertyKey[]
  problem: string
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
  const counter = new LineCounter()
  const document = parseText(source.text, counter)
  const lineAt = (offset: number) => counter.linePos(offset).line + (source.lineOffset ?? 0)
  if (!('contents' in document)) return fail([`: cannot be read: ${document.problem}`])
  if (document.errors.length > 0) {
    const byLine = Map.groupBy(document.errors, error => lineAt(error.pos[0]))
    return fail([...byLine].map(([line, errors]) => `:${line}: ${describeErrors(errors)}`))
  }
  const loose = findLooseAliases(document)
  if (loose.length > 0) {
    return fail(loose.map(node => `:${lineAt(node.range?.[0] ?? 0)}: *${node.source}: ${NEEDS_QUOTES}`))
  }
  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (hasRange(node)) return lineAt(node.range[0])
    }
    return 1 + (source.lineOffset ?? 0)
  }
  const written = toValue(document)
  if ('problem' in written) return fail([`: cannot be read: ${written.problem}`])
  const expanded = expandTexts(written.value ?? {}, dirname(source.file), environment)
  const { value, missing } = prepare?.(expanded.value, expanded.missing) ?? expanded
  if (missing.length > 0) {
    return fail(missing.map(({ path, problem }) => `:${lineOf(path)}: ${path.join('.')}: ${problem}`))
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  return fail(parsed.error.issues.flatMap(issue => toProblems(issue, lineOf)))
}

/** A text that is nested too deep for the parser is a problem like any other. */
function parseText(text: string, lineCounter: LineCounter): Document.Parsed | { problem: string } {
  try {
    return parseDocument(withoutComments(text), { lineCounter, prettyErrors: false })
  } catch (error) {
    return { problem: describeError(error) }
  }
}

/** Ten lines of aliases of aliases may stand for more than any memory holds; the parser refuses those by an error. */
function toValue(document: Document): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS() }
  } catch (error) {
    return { problem: describeError(error) }
  }
}

/** The values with what each `${…}` stands for. */
function expandTexts(written: unknown, folder: string, environment: Environment) {
  const missing: Missing[] = []
  const around = { environment, folder, inputs: readInputs(written) }
  const value = mapTexts(written, [], (text, path) =>
    expand(text, around, problem => missing.push({ path, problem })),
  )
  return { value, missing }
}

/** The defaults of what VS Code would ask a person. */
function readInputs(value: unknown): ReadonlyMap<string, string | undefined> {
  const inputs: unknown[] = isRecord(value) && Array.isArray(value['inputs']) ? value['inputs'] : []
  return new Map(
    inputs.filter(isRecord).map(({ id, default: given }) => {
      return [String(id), typeof given === 'string' ? given : undefined]
    }),
  )
}

/** The keys that stand in the text itself; none where it is no mapping. */
export function keysWritten(text: string): string[] {
  const value: unknown = parseDocument(withoutComments(text)).toJS()
  return isRecord(value) ? Object.keys(value) : []
}

/** The texts of a file in which `${…}` stands, as they are written, by what they become. */
export function textsExpanded({ file, text }: YamlSource, environment: Environment): Map<string, string> {
  const texts = new Map<string, string>()
  const written: unknown = parseDocument(withoutComments(text)).toJS()
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

/** What is wrong in one line; what follows from its first problem is left out. */
function describeErrors([first]: readonly YAMLParseError[]): string {
  return first?.code === 'BAD_ALIAS' ? NEEDS_QUOTES : (first?.message ?? '')
}

/** Aliases without an anchor, which the parser lets pass: an unquoted glob such as *_high looks like one. */
function findLooseAliases(document: Document): Alias[] {
  const loose: Alias[] = []
  visit(document, { Alias: (_key, node) => void (node.resolve(document) || loose.push(node)) })
  return loose
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function toProblems(issue: z.core.$ZodIssue, lineOf: (path: readonly PropertyKey[]) => number): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const path = [...issue.path, key]
      return `:${lineOf(path)}: ${path.join('.')}: no such key`
    })
  }
  if (issue.code === 'invalid_union') {
    const deepest = issue.errors.flat().sort((a, b) => b.path.length - a.path.length)[0]
    if (deepest) return toProblems({ ...deepest, path: [...issue.path, ...deepest.path] }, lineOf)
  }
  if (issue.code === 'invalid_key') {
    const [why] = issue.issues
    if (why) return toProblems({ ...why, path: issue.path }, lineOf)
  }
  return [`:${lineOf(issue.path)}: ${issue.path.join('.') || 'the whole'}: ${issue.message}`]
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
