import { isObject, type JsonObject } from '../../core/forwarding.ts'
import { mapSchemas } from './schemas.ts'

/** Times that a schema is inlined within itself; deeper references are left open. */
const MOST_TURNS = 2
/** Most schemas that are inlined: a few that name each other can stand for millions. */
const MOST_INLINED = 500

/**
 * Replaces each `$ref` by its schema. A reference that leads elsewhere or too deep takes any value of its
 * type.
 */
export function inlineRefs(root: JsonObject): JsonObject {
  let left = MOST_INLINED
  const inline = (schema: unknown, within: readonly string[]): unknown => {
    if (!isObject(schema)) return schema
    if (within.length > 0 && left-- <= 0) return toOpen(schema)
    const { $ref: ref, $defs: _, definitions: __, ...rest } = schema
    const inlined = mapSchemas(rest, inner => inline(inner, within))
    if (typeof ref !== 'string') return inlined
    const target = follow(root, ref)
    const isTooDeep = within.filter(each => each === ref).length >= MOST_TURNS
    const found = isTooDeep ? toOpen(target) : inline(target, [...within, ref])
    return { ...(isObject(found) ? found : {}), ...inlined }
  }
  const inlined = inline(root, [])
  return isObject(inlined) ? inlined : {}
}

function toOpen(schema: unknown): JsonObject {
  const { type, description } = isObject(schema) ? schema : {}
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof description === 'string' && { description }),
  }
}

/** Returns what a JSON Pointer (RFC 6901) of the document names; undefined if it is elsewhere or missing. */
function follow(root: JsonObject, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const part of ref.slice(2).split('/').filter(Boolean)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, key)
    at = isThere ? (at as JsonObject)[key] : undefined
  }
  return at
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}
