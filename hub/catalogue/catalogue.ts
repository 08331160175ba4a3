import {
  type Prompt,
  type Resource,
  type ResourceTemplateType,
  type Tool,
  UriTemplate,
} from '@modelcontextprotocol/client'
import type { ToolRules } from '../../schemas/tool-rules.ts'
import { isTaken } from '../core/tool-rules.ts'
import type { Connection } from '../upstream/connection.ts'
import type { Offer } from '../upstream/offer.ts'
import { type NameOwners, NO_OWNERS } from './name-owners.ts'
import { type NamingRules, nameTools } from './names.ts'

/** A tool or prompt of a server, under the name that it has in the hub. */
export interface CatalogueEntry<Definition> {
  name: string
  server: string
  /** Its name on its server. */
  original: string
  /** The reason why it did not get its usual name; undefined if it did. */
  collision?: string
  definition: Definition
}

/** A tool with `about`: its server's name and instructions, which the tool search reads too. */
export type CatalogueTool = CatalogueEntry<Tool> & { about: string }

/** All servers' offers, in a stable order. Of two resources with one URI the first server's counts. */
export interface Catalogue {
  readonly tools: readonly CatalogueTool[]
  readonly prompts: readonly CatalogueEntry<Prompt>[]
  readonly resources: readonly Resource[]
  readonly resourceTemplates: readonly ResourceTemplateType[]
  /** The instructions of each server that has some. */
  readonly instructions: readonly { server: string; text: string }[]
  /** URIs of a server that are not shown, because `owner` (the hub or an earlier server) has the same. */
  readonly hidden: readonly { server: string; uri: string; owner: string }[]
  /** The owners of names, to be passed to the next build. */
  readonly owners: NameOwners
  tool(name: string): CatalogueTool | undefined
  prompt(name: string): CatalogueEntry<Prompt> | undefined
  /** Returns the server that lists a resource, or else those with a fitting template; none for the hub's. */
  knownOwnersOf(uri: string): readonly string[]
  /** Returns `knownOwnersOf` or, if that is empty, servers that may still have it, the likeliest first. */
  ownersOf(uri: string): readonly string[]
  /** Returns the server that has this template, or a resource with this URI. */
  templateOwner(uriTemplate: string): string | undefined
}

export interface TakenNames {
  tools: ReadonlySet<string>
  prompts: ReadonlySet<string>
  /** Tells whether a URI or URI template is the hub's own. */
  isOwn: (uri: string) => boolean
}

export interface CatalogueRules {
  taken: TakenNames
  /** The most characters of a name. */
  longest: number
  owners: NameOwners
  /** Which tools the hub takes, by the server. */
  toolRules: Readonly<Record<string, ToolRules>>
}

export const EMPTY_CATALOGUE: Catalogue = buildCatalogue([], {
  taken: { tools: new Set(), prompts: new Set(), isOwn: () => false },
  longest: 64,
  owners: NO_OWNERS,
  toolRules: {},
})

/** The fields of a connection from which the catalogue is built. */
export type Part = Pick<Connection, 'spec' | 'offer' | 'instructions' | 'status'>

/** Tells whether a server's offer is known, which is so once the server was ready. */
export function isKnown({ offer, status }: Pick<Part, 'offer' | 'status'>): boolean {
  return status.state === 'ready' || offer.tools.length + offer.prompts.length > 0
}

export function buildCatalogue(offered: readonly Part[], rules: CatalogueRules): Catalogue {
  const connections = offered.map(part => withoutLeftOut(part, rules.toolRules[part.spec.name]))
  const about = new Map(
    connections.map(({ spec, instructions }) => [spec.name, `${spec.name} ${instructions}`]),
  )
  const named = nameAll(connections, 'tools', rules)
  const tools = named.entries.map(tool => ({ ...tool, about: about.get(tool.server) ?? '' }))
  const { entries: prompts, owners: promptOwners } = nameAll(connections, 'prompts', rules)
  const { isOwn } = rules.taken
  const resources = firstOwners(connections, isOwn, ({ offer }) =>
    offer.resources.map(one => [one.uri, one] as const),
  )
  const templates = firstOwners(connections, isOwn, ({ offer }) =>
    offer.resourceTemplates.map(one => [one.uriTemplate, one] as const),
  )
  const knownOwnersOf = (uri: string) => (isOwn(uri) ? [] : findOwners(uri, resources.owned, templates.owned))
  const toolsByName = new Map(tools.map(tool => [tool.name, tool]))
  const promptsByName = new Map(prompts.map(prompt => [prompt.name, prompt]))
  return {
    tools,
    prompts,
    resources: [...resources.owned.values()].map(({ definition }) => definition),
    resourceTemplates: [...templates.owned.values()].map(({ definition }) => definition),
    instructions: connections.flatMap(({ spec, instructions }) =>
      instructions ? [{ server: spec.name, text: instructions }] : [],
    ),
    hidden: [...resources.hidden, ...templates.hidden],
    owners: { tools: named.owners, prompts: promptOwners },
    tool: name => toolsByName.get(name),
    prompt: name => promptsByName.get(name),
    templateOwner: uri => (templates.owned.get(uri) ?? resources.owned.get(uri))?.server,
    knownOwnersOf,
    ownersOf(uri) {
      const known = knownOwnersOf(uri)
      return known.length > 0 || isOwn(uri) ? known : guessOwners(uri, connections)
    },
  }
}

/** Returns a connection without the tools that the hub does not take. */
function withoutLeftOut({ spec, offer, instructions, status }: Part, rules: ToolRules | undefined): Part {
  const tools = rules ? offer.tools.filter(({ name }) => isTaken(rules, name)) : offer.tools
  return { spec, offer: { ...offer, tools }, instructions, status }
}

function nameAll<Kind extends 'tools' | 'prompts'>(
  connections: readonly Part[],
  kind: Kind,
  { taken, longest, owners: before }: CatalogueRules,
): { entries: CatalogueEntry<Offer[Kind][number]>[]; owners: NamingRules['owners'] } {
  const { names, owners } = nameTools(
    connections.map(connection => ({
      server: connection.spec.name,
      prefix: connection.spec.prefix,
      tools: isKnown(connection) ? connection.offer[kind].map(({ name }) => name) : undefined,
    })),
    { taken: taken[kind], longest, owners: before[kind] },
  )
  const definitions = connections.flatMap(({ offer }): readonly Offer[Kind][number][] => offer[kind])
  const entries = names.flatMap((entry, index) => {
    const definition = definitions[index]
    return definition ? [{ ...entry, definition: named(definition, entry.name) }] : []
  })
  return { entries, owners }
}

const renamed = new WeakMap<object, { name: string }>()

/** Returns the same object for the same definition and name, so that what is derived from it is reused. */
function named<Definition extends { name: string }>(definition: Definition, name: string): Definition {
  const known = renamed.get(definition)
  if (known?.name === name) return known as Definition
  const made = { ...definition, name }
  renamed.set(definition, made)
  return made
}

interface Owned<Definition> {
  owned: Map<string, { server: string; definition: Definition }>
  hidden: { server: string; uri: string; owner: string }[]
}

function firstOwners<Definition>(
  connections: readonly Part[],
  isOwn: (uri: string) => boolean,
  entriesOf: (connection: Part) => readonly (readonly [string, Definition])[],
): Owned<Definition> {
  const all: Owned<Definition> = { owned: new Map(), hidden: [] }
  for (const connection of connections) {
    const server = connection.spec.name
    for (const [uri, definition] of entriesOf(connection)) {
      const owner = isOwn(uri) ? 'the hub' : all.owned.get(uri)?.server
      if (owner === undefined) all.owned.set(uri, { server, definition })
      else if (owner !== server) all.hidden.push({ server, uri, owner })
    }
  }
  return all
}

/** Returns the server that lists the URI, or else all servers with a matching template. */
function findOwners(
  uri: string,
  resources: Owned<Resource>['owned'],
  templates: Owned<ResourceTemplateType>['owned'],
): string[] {
  const listed = resources.get(uri)
  if (listed) return [listed.server]
  const fitting = [...templates].filter(([template]) => fits(template, uri)).map(([, { server }]) => server)
  return [...new Set(fitting)]
}

/** Returns servers with the URI's scheme, then others with resources: servers link to unlisted ones too. */
function guessOwners(uri: string, connections: readonly Part[]): string[] {
  const scheme = schemeOf(uri)
  const withResources = connections.filter(
    ({ offer }) => offer.resources.length + offer.resourceTemplates.length > 0,
  )
  const isOfScheme = ({ offer }: Part) =>
    offer.resources.some(one => schemeOf(one.uri) === scheme) ||
    offer.resourceTemplates.some(one => schemeOf(one.uriTemplate) === scheme)
  const likely = withResources.filter(isOfScheme)
  const others = withResources.filter(connection => !likely.includes(connection))
  return [...likely, ...others].map(({ spec }) => spec.name)
}

const matchers = new Map<string, UriTemplate | undefined>()
/** The most parsed templates that are kept: servers may send any number of them. */
const MOST_MATCHERS = 5_000

function fits(template: string, uri: string): boolean {
  if (!matchers.has(template)) {
    if (matchers.size > MOST_MATCHERS) matchers.clear()
    matchers.set(template, parseTemplate(template))
  }
  try {
    return matchers.get(template)?.match(uri) != null
  } catch {
    // The SDK throws if the URI is too long or the template cannot be matched.
    return false
  }
}

/** Returns undefined for an invalid template. */
function parseTemplate(template: string): UriTemplate | undefined {
  try {
    return new UriTemplate(template)
  } catch {
    return undefined
  }
}

function schemeOf(uri: string): string {
  return uri.slice(0, uri.indexOf(':'))
}
