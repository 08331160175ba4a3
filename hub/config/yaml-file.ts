import { type Alias, type Document, LineCounter, parseDocument, visit, type YAMLParseError } from 'yaml'
import type { z } from 'zod'
import { HubError } from '../core/errors.ts'
import type { Environment } from './environment.ts'

/** A text with where it stands, for messages that name file and line. */
export interface YamlSource {
  file: string
  text: string
  /** Lines before the text in its file. */
  lineOffset?: number
}

const NEEDS_QUOTES = 'a text that begins with * needs quotes'

/**
 * Parses YAML (JSON is YAML too) with a schema. Every problem is reported at once, each with file, line, key and
 * reason, as one `bad_request`.
 */
export function parseYaml<Schema extends z.ZodType>(
  source: YamlSource,
  schema: Schema,
  environment: Environment,
): z.output<Schema> {
  const counter = new LineCounter()
  const document = parseDocument(source.text, { lineCounter: counter, prettyErrors: false })
  const lineAt = (offset: number) => counter.linePos(offset).line + (source.lineOffset ?? 0)
  const fail = (problems: string[]): never => {
    throw new HubError('bad_request', problems.map(problem => `${source.file}${problem}`).join('\n'))
  }
  if (document.errors.length > 0) {
    const byLine = Map.groupBy(document.errors, error => lineAt(error.pos[0]))
    fail([...byLine].map(([line, errors]) => `:${line}: ${describeErrors(errors)}`))
  }
  const loose = findLooseAliases(document)
  if (loose.length > 0) {
    fail(loose.map(node => `:${lineAt(node.range?.[0] ?? 0)}: *${node.source}: ${NEEDS_QUOTES}`))
  }
  const lineOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true)
      if (hasRange(node)) return lineAt(node.range[0])
    }
    return 1 + (source.lineOffset ?? 0)
  }
  const missing: string[] = []
  const value = mapTexts(document.toJS() ?? {}, [], (text, path) =>
    interpolate(text, name => {
      const found = environment(name)
      if (found === undefined) {
        missing.push(
          `:${lineOf(path)}: ${path.join('.')}: the environment has no ${name}; set it or write the value`,
        )
      }
      return found ?? ''
    }),
  )
  if (missing.length > 0) fail(missing)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  return fail(parsed.error.issues.flatMap(issue => toProblems(issue, lineOf)))
}

/** The keys that stand in the text itself; none where it is no mapping. */
export function keysWritten(text: string): string[] {
  const value: unknown = parseDocument(text).toJS()
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

/** The texts in which `${NAME}` stands, as they are written, by what they become. */
export function textsExpanded(text: string, environment: Environment): Map<string, string> {
  const written = new Map<string, string>()
  mapTexts(parseDocument(text).toJS(), [], each => {
    const expanded = interpolate(each, name => environment(name) ?? '')
    if (expanded !== each) written.set(expanded, each)
    return expanded
  })
  return written
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

/** Replaces `${NAME}`. */
function interpolate(text: string, lookUp: (name: string) => string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_whole, name: string) => lookUp(name))
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
