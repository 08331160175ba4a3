import type { Model, ModelOptions, ModelReply, ModelRequest } from '../../hub/core/model.ts'
import { type ChatClient, openChat } from './chat-client.ts'
import { type Entry, untilReady } from './downstream.ts'
import { DEFAULT_AGENT, FIVE_SERVERS } from './five-servers.ts'
import { makePng } from './make-png.ts'
import { SIZES } from './played-providers.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

/** A person's picture, and the picture of the tool `eye__draw`. */
export const PICTURES = { person: makePng(40, 30), tool: makePng(30, 20) }

/** A server with a tool whose result is a picture. */
const EYE = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
serveStdio(() => {
  const server = new McpServer({ name: 'eye', version: '1.0.0' })
  server.registerTool('draw', { description: 'Draws the load', annotations: { readOnlyHint: true } }, () => ({
    content: [{ type: 'text', text: 'the load' }, { type: 'image', mimeType: 'image/png', data: '${PICTURES.tool}' }],
  }))
  return server
})
`

/** A model that passes each request to the current model. */
export interface SwitchedModel extends Model {
  current: Model | undefined
  /** Models that become current with the agent's next requests, one with each. */
  next: Model[]
  /** Runs once after the next request arrives and before it is passed on. */
  meanwhile: (() => Promise<unknown>) | undefined
  /** Number of tools in the last request that had any. */
  offered: number
}

function createSwitchedModel(): SwitchedModel {
  return {
    name: 'switched',
    ...SIZES,
    current: undefined,
    next: [],
    meanwhile: undefined,
    offered: 0,
    async complete(request: ModelRequest, options: ModelOptions): Promise<ModelReply> {
      const { meanwhile } = this
      this.meanwhile = undefined
      await meanwhile?.()
      // A request for a summary offers no tools.
      if (request.tools.length > 0) {
        this.offered = request.tools.length
        this.current = this.next.shift() ?? this.current
      }
      if (!this.current) throw new Error('No model is in force')
      return await this.current.complete(request, options)
    },
  }
}

export interface ProviderWorld extends AsyncDisposable {
  hub: TestHub
  chat: ChatClient
  model: SwitchedModel
  /** Sends a picture with a text, and waits for the answer. */
  show(conversation: string, text: string): Promise<string>
}

/**
 * Opens the hub with all tools of its five servers, the default agent under several names, and a switched
 * model.
 */
export async function openProviderWorld(
  agents: readonly string[],
  servers: Record<string, Entry> = {},
  toTools: (agent: string) => readonly string[] = () => ['*'],
): Promise<ProviderWorld> {
  const model = createSwitchedModel()
  const agent = DEFAULT_AGENT.replace(/^events:\n(?: {2}- .*\n)+/m, '').replace(
    /^prompt:\n(?: {2}.*\n)+/m,
    '',
  )
  await using stack = new AsyncDisposableStack()
  const hub = stack.use(
    await startTestHub({
      config: JSON.stringify({ servers: { ...FIVE_SERVERS, ...servers } }),
      agents: Object.fromEntries(
        agents.map(name => [name, agent.replace('["*"]', JSON.stringify(toTools(name)))]),
      ),
      data: { 'servers/eye/server.mjs': EYE },
      overrides: { model },
    }),
  )
  await untilReady(hub, ...Object.keys(FIVE_SERVERS), 'eye', ...Object.keys(servers))
  const chat = stack.use(await openChat(hub))
  const owned = stack.move()
  return {
    hub,
    chat,
    model,
    async show(conversation, text) {
      const images = [{ mimeType: 'image/png' as const, data: PICTURES.person }]
      const clientId = `show ${conversation}`
      chat.send({ type: 'message', conversation, text, images, clientId })
      const accepted = await chat.next('accepted', frame => frame.clientId === clientId)
      return (await chat.answerTo(accepted.message)).text
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
