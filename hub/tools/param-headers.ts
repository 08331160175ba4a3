import { isObject, type JsonObject } from '../core/forwarding.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Printable ASCII without spaces at its ends, which a header holds as it is. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const KINDS: readonly unknown[] = ['string', 'integer', 'boolean']

/** An argument that its tool's schema wants repeated in a header (`x-mcp-header`, 2026-07-28). */
export interface ParamHeader {
  header: string
  path: readonly string[]
}

/** The arguments that a tool wants in headers. */
export function findParamHeaders(schema: unknown, path: readonly string[] = []): ParamHeader[] {
  if (!isObject(schema) || !isObject(schema['properties'])) return []
  return Object.entries(schema['properties']).flatMap(([name, child]) => {
    const at = [...path, name]
    const header = isObject(child) ? child['x-mcp-header'] : undefined
    if (typeof header !== 'string') return findParamHeaders(child, at)
    const isFit = isObject(child) && TOKEN.test(header) && KINDS.includes(child['type'])
    return isFit ? [{ header, path: at }] : []
  })
}

export function toParamHeaders(declared: readonly ParamHeader[], args: unknown): Record<string, string> {
  return Object.fromEntries(
    declared.flatMap(({ header, path }) => {
      const value = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), args)
      const fits = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
      return fits ? [[`Mcp-Param-${header}`, toHeaderValue(String(value))]] : []
    }),
  )
}

/** What a request of 2026-07-28 repeats of its body, so that a proxy need not read that. */
export function toStandardHeaders(method: string, params: JsonObject): Record<string, string> {
  const name = method === 'resources/read' ? params['uri'] : params['name']
  return {
    'Mcp-Method': method,
    ...(typeof name === 'string' ? { 'Mcp-Name': toHeaderValue(name) } : {}),
  }
}

export function toHeaderValue(text: string): string {
  const isPlain = PLAIN.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
