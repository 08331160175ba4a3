import type { Tool } from '@modelcontextprotocol/client'
import { isObject, type JsonObject } from '../../core/forwarding.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Printable ASCII without spaces at its ends, which a header holds unchanged. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const KINDS: readonly unknown[] = ['string', 'integer', 'boolean']

/** Keywords of a schema whose values are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples'])

/** An argument that its tool's schema wants repeated in a header (`x-mcp-header`, 2026-07-28). */
interface ParamHeader {
  header: string
  path: readonly string[]
}

/** Finds the arguments that a tool wants in headers. */
function findParamHeaders(schema: unknown, path: readonly string[] = []): ParamHeader[] {
  if (!isObject(schema) || !isObject(schema['properties'])) return []
  return Object.entries(schema['properties']).flatMap(([name, child]) => {
    const at = [...path, name]
    const header = isObject(child) ? child['x-mcp-header'] : undefined
    if (typeof header !== 'string') return findParamHeaders(child, at)
    const isFit = isObject(child) && TOKEN.test(header) && KINDS.includes(child['type'])
    return isFit ? [{ header, path: at }] : []
  })
}

function toParamHeaders(declared: readonly ParamHeader[], args: unknown): Record<string, string> {
  return Object.fromEntries(
    declared.flatMap(({ header, path }) => {
      const value = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), args)
      const fits = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
      return fits ? [[`Mcp-Param-${header}`, toHeaderValue(String(value))]] : []
    }),
  )
}

/** Repeats in headers the arguments for which a server's tools want this. */
export interface ArgumentMirror {
  /** Learns the tools; returns those whose schemas keep the rules for such headers, as clients have to. */
  learn(tools: readonly Tool[]): readonly Tool[]
  headersOf(method: string, params: JsonObject): Record<string, string>
}

export function createArgumentMirror(): ArgumentMirror {
  let declared = new Map<unknown, ParamHeader[]>()
  return {
    learn(tools) {
      const kept = tools.filter(tool => keepsRules(tool.inputSchema))
      declared = new Map(kept.map(tool => [tool.name, findParamHeaders(tool.inputSchema)]))
      return kept
    },
    headersOf(method, params) {
      const headers = method === 'tools/call' ? declared.get(params['name']) : undefined
      return headers ? toParamHeaders(headers, params['arguments']) : {}
    },
  }
}

/** Tells whether each `x-mcp-header` is on a fitting argument, and no two name the same header. */
function keepsRules(schema: unknown): boolean {
  const headers = new Set(findParamHeaders(schema).map(({ header }) => header.toLowerCase()))
  return headers.size === countMarks(schema)
}

function countMarks(schema: unknown, isNames = false): number {
  if (Array.isArray(schema)) return schema.reduce((sum: number, part) => sum + countMarks(part), 0)
  if (!isObject(schema)) return 0
  const below = Object.entries(schema).filter(([key]) => isNames || !VALUES.has(key))
  const own = !isNames && 'x-mcp-header' in schema ? 1 : 0
  return below.reduce((sum, [key, part]) => sum + countMarks(part, !isNames && key === 'properties'), own)
}

/** Returns the headers that repeat parts of a body (2026-07-28), so that a proxy need not read it. */
export function toStandardHeaders(method: string, params: JsonObject): Record<string, string> {
  const name = method === 'resources/read' ? params['uri'] : params['name']
  return {
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': toHeaderValue(name) } : {}),
  }
}

function toHeaderValue(text: string): string {
  const isPlain = PLAIN.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
