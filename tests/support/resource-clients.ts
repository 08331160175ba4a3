import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as StreamableHTTPClientTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Line } from './clients.ts'
import { createRecord } from './until.ts'

/** A change that a client received: a resource's URI, or the name of a list. */
type Change = string

export type Reference = { type: 'ref/resource'; uri: string } | { type: 'ref/prompt'; name: string }

/** A client of one of the official SDKs that reads resources and prompts, with one interface for both. */
export interface ResourceClient extends AsyncDisposable {
  listUris(): Promise<string[]>
  listTemplates(): Promise<string[]>
  /** Returns the only text of a resource. */
  read(uri: string): Promise<string>
  complete(ref: Reference, name: string, value: string): Promise<string[]>
  promptNames(): Promise<string[]>
  /** Returns the texts of a prompt's messages. */
  getPrompt(name: string, args: Record<string, string>): Promise<string[]>
  /** Subscribes to these resources and to both lists; each change adds its URI, `resources` or `prompts`. */
  watch(uris: readonly string[]): Promise<ReturnType<typeof createRecord<Change>>>
}

const INFO = { name: 'superbloom-tests', version: '1.0.0' }

export async function openResourceClient(
  line: Line,
  { url, token }: { url: string; token: string },
): Promise<ResourceClient> {
  const address = new URL('/mcp', url)
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
  const changes = createRecord<Change>()
  if (line === 'sdk 1') {
    const client = new ClientV1(INFO)
    await client.connect(new StreamableHTTPClientTransportV1(address, options) as TransportV1)
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => changes.add(params.uri))
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => changes.add('resources'))
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => changes.add('prompts'))
    return { ...toReader(client), watch: uris => subscribe(client, uris, changes) }
  }
  const isModern = line === 'sdk 2, 2026-07-28'
  const client = new Client(INFO, {
    versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' },
  })
  await client.connect(new StreamableHTTPClientTransport(address, options))
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => changes.add(params.uri))
  client.setNotificationHandler('notifications/resources/list_changed', () => changes.add('resources'))
  client.setNotificationHandler('notifications/prompts/list_changed', () => changes.add('prompts'))
  return {
    ...toReader(client),
    async watch(uris) {
      if (!isModern) return subscribe(client, uris, changes)
      await client.listen({
        resourceSubscriptions: [...uris],
        resourcesListChanged: true,
        promptsListChanged: true,
      })
      return changes
    },
  }
}

async function subscribe(
  client: { subscribeResource(params: { uri: string }): Promise<unknown> },
  uris: readonly string[],
  changes: ReturnType<typeof createRecord<Change>>,
) {
  for (const uri of uris) await client.subscribeResource({ uri })
  return changes
}

/** The methods with the same names in both SDKs. */
interface Reading {
  listResources(): Promise<{ resources: { uri: string }[] }>
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>
  readResource(params: { uri: string }): Promise<{ contents: object[] }>
  complete(params: {
    ref: Reference
    argument: { name: string; value: string }
  }): Promise<{ completion: { values: string[] } }>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: {
    name: string
    arguments: Record<string, string>
  }): Promise<{ messages: { content: object }[] }>
  close(): Promise<void>
}

function toReader(client: Reading): Omit<ResourceClient, 'watch'> {
  return {
    listUris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listTemplates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    async read(uri) {
      const { contents } = await client.readResource({ uri })
      if (contents.length !== 1) throw new Error(`${uri} has ${contents.length} contents`)
      return textOf(contents[0])
    },
    complete: async (ref, name, value) =>
      (await client.complete({ ref, argument: { name, value } })).completion.values,
    promptNames: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async getPrompt(name, args) {
      const { messages } = await client.getPrompt({ name, arguments: args })
      return messages.map(({ content }) => textOf(content))
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function textOf(content: object | undefined): string {
  if (content && 'text' in content && typeof content.text === 'string') return content.text
  throw new Error(`${JSON.stringify(content)} is no text`)
}
