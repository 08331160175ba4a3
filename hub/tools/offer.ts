import {
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  type ResourceTemplateType,
  type ServerCapabilities,
  type Tool,
} from '@modelcontextprotocol/client'
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

const LISTS: Readonly<
  Record<OfferKind, { method: string; capability: keyof ServerCapabilities; key: string }>
> = {
  tools: { method: 'tools/list', capability: 'tools', key: 'name' },
  resources: { method: 'resources/list', capability: 'resources', key: 'uri' },
  resourceTemplates: { method: 'resources/templates/list', capability: 'resources', key: 'uriTemplate' },
  prompts: { method: 'prompts/list', capability: 'prompts', key: 'name' },
}

type Request = (method: string, params: JsonObject) => Promise<JsonObject>

/** Everything of one kind that a server lists, as it lists it; entries without a name are left out. Throws as requests do. */
export async function readList<Kind extends OfferKind>(
  kind: Kind,
  capabilities: ServerCapabilities,
  request: Request,
): Promise<Offer[Kind]> {
  const { method, capability, key } = LISTS[kind]
  if (!capabilities[capability]) return []
  const found: JsonObject[] = []
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES; page++) {
    const result = await requestPage(() => request(method, cursor === undefined ? {} : { cursor }))
    if (!result) return toOffered(kind, found)
    const entries = result[kind]
    if (!Array.isArray(entries)) throw new Error(`${method} gave no list of ${kind}`)
    found.push(...entries.filter(entry => isObject(entry) && typeof entry[key] === 'string'))
    cursor = result['nextCursor']
    if (typeof cursor !== 'string' || entries.length === 0) return toOffered(kind, found)
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

/** Servers answer in many versions of the protocol; what else stands in an entry is handed on as it came. */
function toOffered<Kind extends OfferKind>(kind: Kind, entries: JsonObject[]): Offer[Kind] {
  const whole =
    kind === 'tools'
      ? entries.map(entry =>
          isObject(entry['inputSchema']) ? entry : { ...entry, inputSchema: { type: 'object' } },
        )
      : entries
  return whole as unknown as Offer[Kind]
}
