import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import formatsPlugin from 'ajv-formats'
import { parse } from 'yaml'

type Json = Record<string, unknown>

/** A checker of requests and answers; it returns a line for each violation of the description. */
export interface Contract {
  /** Checks a request. `path` includes the query, whose parameters must be described. */
  request(method: string, path: string, body?: unknown): string[]
  answer(method: string, path: string, status: number, body: unknown): string[]
}

/**
 * Returns the folder of API descriptions and recorded answers. Throws, with the variable to set, if it is
 * missing.
 */
export function specsFolder(): string {
  const folder = process.env['SUPERBLOOM_SPECS']
  if (folder && existsSync(join(folder, 'openapi'))) return folder
  throw new Error(
    'SUPERBLOOM_SPECS names no folder with openapi/ and recorded/. CONTRIBUTING.md says where the public originals are.',
  )
}

/** Reads a recorded answer of a real program: `recorded('radarr', 'movie')`. */
export function recorded(program: string, name: string): unknown {
  return JSON.parse(readFileSync(join(specsFolder(), 'recorded', program, `${name}.json`), 'utf8'))
}

/**
 * Opens an API's contract by its official description (OpenAPI 3, or Swagger 2), such as `radarr-v3.json`.
 * `base` precedes the described paths in requests, such as `/api/v1`.
 */
export function openContract(file: string, base = ''): Contract {
  const text = readFileSync(join(specsFolder(), 'openapi', file), 'utf8')
  const description = (file.endsWith('.json') ? JSON.parse(text) : parse(text)) as Json
  const checkRequest = createCheck(toJsonSchema(description))
  // Programs of another version may answer with undescribed fields.
  const checkAnswer = createCheck(toJsonSchema(description, true))
  const paths = Object.keys(description['paths'] as Json)
  const find = (method: string, path: string) => {
    const bare = path.split('?', 1)[0]?.slice(base.length) ?? ''
    const matching = path.startsWith(base) ? paths.filter(template => matches(template, bare)) : []
    const [template] = matching.sort((a, b) => countSlots(a) - countSlots(b))
    const pointer = `/paths/${toPart(template ?? '')}/${method.toLowerCase()}`
    const operation = template && at(description, pointer)
    return operation ? { pointer, operation: operation as Json } : undefined
  }
  return {
    request(method, path, body) {
      const found = find(method, path)
      if (!found) return [`${method} ${path}: no such operation`]
      const unknown = findUnknownParameters(description, found, path)
      if (body === undefined) return unknown
      const schema = requestSchema(found.operation, found.pointer)
      return [...unknown, ...(schema ? checkRequest(schema, body) : [`${method} ${path}: takes no JSON`])]
    },
    answer(method, path, status, body) {
      const found = find(method, path)
      if (!found) return [`${method} ${path}: no such operation`]
      const responses = (found.operation['responses'] ?? {}) as Json
      const kind = [String(status), `${String(status)[0]}XX`, 'default'].find(key => key in responses)
      if (!kind) return [`${method} ${path}: answers no ${status}`]
      const schema = responseSchema(description, `${found.pointer}/responses/${kind}`)
      return schema && body !== undefined ? checkAnswer(schema, body) : []
    },
  }
}

function createCheck(description: unknown): (pointer: string, value: unknown) => string[] {
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  formatsPlugin.default(ajv)
  // Real Jellyfin servers omit the dashes.
  ajv.addFormat('uuid', /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i)
  ajv.addSchema(description as Json, 'api')
  const compiled = new Map<string, ValidateFunction>()
  return (pointer, value) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    compiled.set(pointer, known)
    if (known(value)) return []
    return (known.errors ?? []).map(error => `${error.instancePath || '(whole)'} ${error.message ?? ''}`)
  }
}

/** Finds undescribed parameters. Their names are compared in any case, as ASP.NET does. */
function findUnknownParameters(
  description: Json,
  { pointer, operation }: { pointer: string; operation: Json },
  path: string,
): string[] {
  const shared = at(description, `${pointer.split('/').slice(0, 3).join('/')}/parameters`)
  const all = [...((operation['parameters'] ?? []) as Json[]), ...((shared ?? []) as Json[])]
  const parameters = all.map(one =>
    typeof one['$ref'] === 'string' ? at(description, one['$ref'].slice(1)) : one,
  )
  const known = new Set(
    parameters
      .filter(one => (one as Json)['in'] === 'query')
      .map(one => String((one as Json)['name']).toLowerCase()),
  )
  const given = new URLSearchParams(path.split('?')[1] ?? '').keys()
  return [...new Set(given)]
    .filter(name => !known.has(name.toLowerCase()))
    .map(name => `${path}: takes no parameter ${name}`)
}

function requestSchema(operation: Json, pointer: string): string | undefined {
  const content = at(operation, '/requestBody/content') as Json | undefined
  const type = content && Object.keys(content).find(key => key.includes('json'))
  if (type) return `${pointer}/requestBody/content/${toPart(type)}/schema`
  const parameters = (operation['parameters'] ?? []) as Json[]
  const index = parameters.findIndex(parameter => parameter['in'] === 'body')
  return index < 0 ? undefined : `${pointer}/parameters/${index}/schema`
}

function responseSchema(description: Json, pointer: string): string | undefined {
  const response = at(description, pointer) as Json | undefined
  const reference = response?.['$ref']
  if (typeof reference === 'string') return responseSchema(description, reference.slice(1))
  if (response?.['schema']) return `${pointer}/schema`
  const content = response?.['content'] as Json | undefined
  const type = content && Object.keys(content).find(key => key.includes('json'))
  return type && `${pointer}/content/${toPart(type)}/schema`
}

function matches(template: string, path: string): boolean {
  const [wanted, given] = [template.toLowerCase().split('/'), path.toLowerCase().split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => part === given[index] || (/\{.+\}/.test(part) && given[index] !== ''))
  )
}

function countSlots(template: string): number {
  return template.split('{').length
}

function toPart(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map(part => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], value)
}

/** Converts a description to JSON Schema, which has a union with null for OpenAPI 3.0's `nullable`. */
function toJsonSchema(value: unknown, isOpen = false): unknown {
  if (Array.isArray(value)) return value.map(inner => toJsonSchema(inner, isOpen))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, toJsonSchema(inner, isOpen)])
  const { nullable, discriminator: _, ...schema } = Object.fromEntries(entries) as Json
  if (isOpen && schema['additionalProperties'] === false) delete schema['additionalProperties']
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}
