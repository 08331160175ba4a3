import {
  isSpecType,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  type ResourceTemplateType,
  type ServerCapabilities,
  specTypeSchemas,
  type Tool,
} from '@modelcontextprotocol/client'
import { wordsOf } from '../../schemas/problems.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'

/** The lists that a server offers. */
export interface Offer {
  tools: readonly Tool[]
  resources: readonly Resource[]
  resourceTemplates: readonly ResourceTemplateType[]
  prompts: readonly Prompt[]
}

export type OfferKind = keyof Offer

export const OFFER_KINDS: readonly OfferKind[] = ['tools', 'resources', 'resourceTemplates', 'prompts']

export const NO_OFFER: Offer = { tools: [], resources: [], resourceTemplates: [], prompts: [] }

/** The most pages of a list that are read, since a server may never stop paging. */
const MOST_PAGES = 100
/** The most tools of a server. */
const MOST_TOOLS = 1_000
/** The most characters of one list's JSON. */
const LONGEST_LIST = 32 * 1024 * 1024

type Entry<Kind extends OfferKind> = Offer[Kind][number]

interface Listing<Kind extends OfferKind> {
  method: string
  capability: keyof ServerCapabilities
  isOne: (entry: unknown) => entry is Entry<Kind>
  schema: (typeof specTypeSchemas)['Tool' | 'Resource' | 'ResourceTemplate' | 'Prompt']
}

const LISTS: { readonly [Kind in OfferKind]: Listing<Kind> } = {
  tools: { method: 'tools/list', capability: 'tools', isOne: isSpecType.Tool, schema: specTypeSchemas.Tool },
  resources: {
    method: 'resources/list',
    capability: 'resources',
    isOne: isSpecType.Resource,
    schema: specTypeSchemas.Resource,
  },
  resourceTemplates: {
    method: 'resources/templates/list',
    capability: 'resources',
    isOne: isSpecType.ResourceTemplate,
    schema: specTypeSchemas.ResourceTemplate,
  },
  prompts: {
    method: 'prompts/list',
    capability: 'prompts',
    isOne: isSpecType.Prompt,
    schema: specTypeSchemas.Prompt,
  },
}

type Request = (method: string, params: JsonObject) => Promise<JsonObject>

/**
 * Reads everything of one kind that a server lists. Clients refuse a whole list for one wrong entry, and the
 * hub's list is that of all servers, so such an entry is left out and reported to `onLeftOut`. Throws as
 * requests do.
 */
export async function readList<Kind extends OfferKind>(
  kind: Kind,
  capabilities: ServerCapabilities,
  request: Request,
  onLeftOut: (name: string, reason: string) => void,
): Promise<readonly Entry<Kind>[]> {
  const { method, capability, isOne, schema }: Listing<Kind> = LISTS[kind]
  if (!capabilities[capability]) return []
  const found: unknown[] = []
  const take = () => {
    const over = kind === 'tools' ? found.splice(MOST_TOOLS).length : 0
    if (over > 0) onLeftOut(`${over} more tools`, `a server may have ${MOST_TOOLS}`)
    const stated = found.map(entry => withoutNulls(entry))
    const entries = kind === 'tools' ? stated.map(withSchema) : stated
    return entries.filter((entry): entry is Entry<Kind> => {
      const good = isGood(entry, isOne)
      if (!good) onLeftOut(nameOf(entry), findFault(entry, schema))
      return good
    })
  }
  let cursor: unknown
  let size = 0
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await requestPage(() => request(method, cursor === undefined ? {} : { cursor }))
    if (!result) return take()
    const entries = result[kind]
    if (!Array.isArray(entries)) throw new Error(`${method} gave no list of ${kind}`)
    for (const entry of entries) {
      size += sizeOf(entry)
      found.push(entry)
    }
    if (size > LONGEST_LIST) throw new Error(`${method} gave over ${LONGEST_LIST} characters`)
    cursor = result['nextCursor']
    // An empty page is not the end, because a server may filter; an empty cursor is.
    if (typeof cursor !== 'string' || cursor === '') return take()
  }
  throw new Error(`${method} has over ${MOST_PAGES} pages`)
}

/** Requests a page; undefined if the server does not know the method, as many do not know templates. */
async function requestPage(request: () => Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return undefined
    throw error
  }
}

/** Fields whose content is free, and where null may stand for itself. */
const FREE_FORM = new Set(['_meta', 'properties', '$defs', 'default', 'const', 'enum', 'examples'])
/** The depth of annotations, icons and arguments in an entry; deeper fields are left as they are. */
const DEEPEST_FIELD = 3

/** Removes nulls, which some servers write for fields that they do not have, and which clients refuse. */
function withoutNulls(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST_FIELD) return value
  if (Array.isArray(value)) return value.map(each => withoutNulls(each, depth + 1))
  if (!isObject(value)) return value
  const fields = Object.entries(value).filter(
    ([key, field]) => field !== null || key === 'default' || key === 'const',
  )
  return Object.fromEntries(
    fields.map(([key, field]) => [key, FREE_FORM.has(key) ? field : withoutNulls(field, depth + 1)]),
  )
}

/** Adds what some servers leave out for tools without arguments: the schema, or its type. */
function withSchema(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { inputSchema } = tool
  if (!isObject(inputSchema)) return { ...tool, inputSchema: { type: 'object' } }
  return inputSchema['type'] === undefined
    ? { ...tool, inputSchema: { ...inputSchema, type: 'object' } }
    : tool
}

function isGood(entry: unknown, isOne: (entry: unknown) => boolean): boolean {
  return (orTooDeep(() => isOne(entry)) ?? false) && sizeOf(entry) > 0
}

/** Returns the length of an entry's JSON; 0 for one that is nested too deeply to be written. */
function sizeOf(entry: unknown): number {
  return orTooDeep(() => JSON.stringify(entry).length) ?? 0
}

/** Returns undefined for an entry nested thousands deep, which can be parsed, but not checked or written. */
function orTooDeep<Result>(look: () => Result): Result | undefined {
  try {
    return look()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Returns why clients would refuse an entry. */
function findFault(entry: unknown, schema: Listing<OfferKind>['schema']): string {
  const [issue] = schema['~standard'].validate(toOutside(entry)).issues ?? []
  if (!issue) return 'it is nested too deeply, or wrong deep inside'
  return `${issue.path?.map(String).join('.') || 'the whole'}: ${wordsOf(issue.message)}`
}

/** Returns only the outer levels of a value, on which no check runs out of stack. */
function toOutside(value: unknown, depth = 0): unknown {
  const isDeep = depth > DEEPEST_FIELD
  if (Array.isArray(value)) return isDeep ? [] : value.map(each => toOutside(each, depth + 1))
  if (!isObject(value)) return value
  const fields = isDeep ? [] : Object.entries(value)
  return Object.fromEntries(fields.map(([key, field]) => [key, toOutside(field, depth + 1)]))
}

function nameOf(entry: unknown): string {
  return isObject(entry) ? String(entry['name'] ?? entry['uri']) : 'one that is no object'
}
