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

/** A server that never stops paging is cut off here. */
const MOST_PAGES = 100

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
 * Everything of one kind that a server lists, as it lists it. Clients refuse a whole list for one wrong entry, and the
 * hub's list is that of all servers: such an entry is left out and told. Throws as requests do.
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
    const stated = found.map(entry => withoutNulls(entry))
    const entries = kind === 'tools' ? stated.map(withSchema) : stated
    return entries.filter((entry): entry is Entry<Kind> => {
      const good = isGood(entry, isOne)
      if (!good) onLeftOut(nameOf(entry), findFault(entry, schema))
      return good
    })
  }
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await requestPage(() => request(method, cursor === undefined ? {} : { cursor }))
    if (!result) return take()
    const entries = result[kind]
    if (!Array.isArray(entries)) throw new Error(`${method} gave no list of ${kind}`)
    for (const entry of entries) found.push(entry)
    cursor = result['nextCursor']
    // A server that filters may give an empty page in the midst; an empty cursor leads nowhere.
    if (typeof cursor !== 'string' || cursor === '') return take()
  }
  throw new Error(`${method} has over ${MOST_PAGES} pages`)
}

/** Undefined where the server does not know the method: many that have resources know nothing of templates. */
async function requestPage(request: () => Promise<JsonObject>): Promise<JsonObject | undefined> {
  try {
    return await request()
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return undefined
    throw error
  }
}

/** Fields whose content is nobody's business, and where null may stand for itself. */
const FREE_FORM = new Set(['_meta', 'properties', '$defs', 'default', 'const', 'enum', 'examples'])
/** An entry has its annotations, icons and arguments this deep; a field further down is left as it is. */
const DEEPEST_FIELD = 3

/** Some servers write null for an optional field that they do not have, which clients refuse. */
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

/** Some servers give tools without arguments no schema, or one of no type. */
function withSchema(tool: unknown): unknown {
  if (!isObject(tool)) return tool
  const { inputSchema } = tool
  if (!isObject(inputSchema)) return { ...tool, inputSchema: { type: 'object' } }
  return inputSchema['type'] === undefined
    ? { ...tool, inputSchema: { ...inputSchema, type: 'object' } }
    : tool
}

/** What is nested thousands deep can be parsed, but neither checked nor written again. */
function isGood(entry: unknown, isOne: (entry: unknown) => boolean): boolean {
  try {
    return isOne(entry) && JSON.stringify(entry) !== undefined
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** What clients would refuse an entry for. */
function findFault(entry: unknown, schema: Listing<OfferKind>['schema']): string {
  const [issue] = schema['~standard'].validate(toOutside(entry)).issues ?? []
  if (!issue) return 'it is nested too deeply, or wrong deep inside'
  return `${issue.path?.map(String).join('.') || 'the whole'}: ${wordsOf(issue.message)}`
}

/** Its outer levels alone: on those no check runs out of stack. */
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
