import { isDeepStrictEqual } from 'node:util'
import {
  type Client,
  type Prompt,
  ProtocolError,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/client'

/** The offer of a server, or of the hub, besides tools. */
export interface Offered {
  resources: Resource[]
  templates: ResourceTemplateType[]
  prompts: Prompt[]
}

const FRESH = { cacheMode: 'refresh' } as const

/** Reads the lists. A list that fails, as some servers' do, is empty. */
export async function readOffered(client: Client): Promise<Offered> {
  const { resources, prompts } = client.getServerCapabilities() ?? {}
  const lists = await Promise.all([
    resources ? orNothing(client.listResources(undefined, FRESH)) : undefined,
    resources ? orNothing(client.listResourceTemplates(undefined, FRESH)) : undefined,
    prompts ? orNothing(client.listPrompts(undefined, FRESH)) : undefined,
  ])
  return {
    resources: lists[0]?.resources ?? [],
    templates: lists[1]?.resourceTemplates ?? [],
    prompts: lists[2]?.prompts ?? [],
  }
}

async function orNothing<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  return asked.catch(error => {
    if (error instanceof ProtocolError) return undefined
    throw error
  })
}

/** The clients of a server and of the hub, where its prompts have a prefix. */
export interface Sides {
  direct: Client
  hub: Client
  prefix: string
}

/** Returns what the hub lacks or changes of a server's offer: entries of its lists, and their contents. */
export async function compareOffers(sides: Sides, own: Offered, inHub: Offered): Promise<string[]> {
  const { direct, hub, prefix } = sides
  const named = own.prompts.map(prompt => ({ ...prompt, name: `${prefix}${prompt.name}` }))
  const missing = [
    ...own.resources.filter(one => !holds(inHub.resources, one)).map(({ uri }) => uri),
    ...own.templates.filter(one => !holds(inHub.templates, one)).map(({ uriTemplate }) => uriTemplate),
    ...named.filter(one => !holds(inHub.prompts, one)).map(({ name }) => name),
  ]
  const differing: string[] = []
  const compare = async (what: string, ask: (client: Client, before: string) => Promise<unknown>) => {
    const [expected, actual] = [await settle(ask(direct, '')), await settle(ask(hub, prefix))]
    if (!isDeepStrictEqual(actual, expected))
      differing.push(`${what}: ${JSON.stringify(actual)} for ${JSON.stringify(expected)}`)
  }
  for (const { uri } of own.resources)
    await compare(uri, async client => (await client.readResource({ uri }, { cacheMode: 'bypass' })).contents)
  for (const { name, arguments: asked = [] } of own.prompts) {
    const args = Object.fromEntries(asked.map(one => [one.name, 'Engineering']))
    await compare(name, async (client, before) => {
      const prompt = await client.getPrompt({ name: `${before}${name}`, arguments: args })
      return prompt.messages
    })
    if (!direct.getServerCapabilities()?.completions) continue
    for (const argument of asked)
      await compare(`${name} ${argument.name}`, async (client, before) => {
        const ref = { type: 'ref/prompt', name: `${before}${name}` } as const
        return (await client.complete({ ref, argument: { name: argument.name, value: '' } })).completion
      })
  }
  return [...missing, ...differing]
}

function holds(list: readonly object[], one: object): boolean {
  return list.some(other => isDeepStrictEqual(other, one))
}

/** Returns the answer; a server's error counts as an answer too. */
async function settle(asked: Promise<unknown>): Promise<unknown> {
  return asked.catch(error => {
    if (error instanceof ProtocolError) return { code: error.code, message: error.message }
    throw error
  })
}
