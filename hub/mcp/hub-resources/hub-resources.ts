import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { HubError } from '../../core/errors.ts'
import type { HubToolReads } from '../hub-tools/deps.ts'
import { createAgentResources } from './agent-resources.ts'
import { createConversationResources } from './conversation-resources.ts'
import { createEventResource, EVENTS_URI } from './event-resource.ts'
import { JSON_TYPE, type ResourceKind } from './kind.ts'

/** The hub's own resources, read anew at each request. */
export interface HubResources {
  /** Lists the resources in a stable order; of the conversations only the most recent ones. */
  list(): Promise<Resource[]>
  readonly templates: readonly ResourceTemplateType[]
  /** Tells whether a URI is the hub's own, even if there is no such resource. */
  owns(uri: string): boolean
  /** Reads a resource. Throws `not_found`. */
  read(uri: string): Promise<ReadResourceResult>
  /** Proposes values for the argument of one of the templates, some hundreds at most; none for any other. */
  complete(template: string, argument: { name: string; value: string }): Promise<string[]>
}

/** Tells whether a URI, or a template of URIs, is the hub's own. */
export function ownsResource(uri: string): boolean {
  const rest = uri.startsWith(EVENTS_URI) ? uri.slice(EVENTS_URI.length) : undefined
  return uri.startsWith('hub://') || (rest !== undefined && /^(?:[?{]|$)/.test(rest))
}

/** All kinds, in the order in which clients see them. */
const all: readonly ((deps: HubToolReads) => ResourceKind)[] = [
  createEventResource,
  createAgentResources,
  createConversationResources,
]

export function createHubResources(deps: HubToolReads): HubResources {
  const kinds = all.map(create => create(deps))
  const templates = kinds.map(({ template }) => template)
  return {
    templates,
    list: async () => (await Promise.all(kinds.map(kind => kind.list()))).flat(),
    owns: ownsResource,
    async read(uri) {
      for (const kind of kinds) {
        const found = await kind.read(uri)
        if (found) return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(found) }] }
      }
      const known = [EVENTS_URI, ...templates.map(({ uriTemplate }) => uriTemplate)].join(', ')
      throw new HubError('not_found', `There is no resource ${uri}; the hub's own are ${known}`)
    },
    async complete(template, { name, value }) {
      const kind = kinds.find(each => each.template.uriTemplate === template && each.argument === name)
      return kind ? kind.complete(value) : []
    },
  }
}
