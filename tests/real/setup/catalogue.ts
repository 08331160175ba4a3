import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server, type Tool } from '@modelcontextprotocol/server'

/** Fifty things of a house, each with a word that only its server's instructions have. */
const THINGS =
  'greenhouse:glasshouse aquarium:fishtank boiler:radiators garage:carport attic:loft cellar:basement pool:swimming sauna:steambath doorbell:chime fridge:refrigerator oven:stove dishwasher:crockery washer:laundry dryer:tumble hoover:vacuum mower:lawn sprinkler:irrigation beehive:honey henhouse:poultry kennel:puppies stable:ponies workshop:lathe printer:paper scanner:photocopy camera:surveillance alarm:burglar lock:keyhole shutter:blinds curtain:drapes awning:sunshade lamp:lighting fan:ventilator heater:warmth freezer:icecream kettle:teapot toaster:bread blender:smoothie grinder:espresso piano:keyboard radio:broadcast telescope:astronomy globe:geography easel:watercolor loom:weaving kiln:pottery forge:blacksmith sled:winter canoe:paddling tent:camping hammock:siesta'
    .split(' ')
    .map(pair => pair.split(':') as [string, string])

/** Thirty actions for each. */
const ACTIONS =
  'open close start stop read reset clean check move count sort learn lend paint weigh measure rename archive label photograph repair insure borrow polish inspect schedule cancel forget describe compare'.split(
    ' ',
  )

/** A server of the catalogue: its instructions and its thirty tools. */
export interface CatalogueServer {
  name: string
  about: string
  /** A word that finds the server, and that none of its tools has. */
  synonym: string
  tools: Tool[]
}

export const catalogueServers: readonly CatalogueServer[] = THINGS.map(([name, synonym]) => ({
  name,
  synonym,
  about: `Looks after the ${name}: ${synonym}`,
  tools: ACTIONS.map(action => toTool(action, name)),
}))

function toTool(action: string, thing: string): Tool {
  return {
    name: `${action}_${thing}`,
    title: `${action} the ${thing}`,
    description: `Does ${action} with the ${thing}, at once or at a time that is given`,
    inputSchema: {
      type: 'object',
      properties: {
        at: { type: 'string', description: 'when, as ISO 8601' },
        mode: { type: 'string', enum: [`${thing}-gently`, `${thing}-firmly`] },
      },
    },
    annotations: { readOnlyHint: action === 'read', destructiveHint: false },
  }
}

const PROGRAM = fileURLToPath(new URL('../../fixtures/catalogue-server.mjs', import.meta.url))

/** Returns the entry of a process of the legacy era. */
export function toStdioEntry({ about, tools }: CatalogueServer) {
  return { command: process.execPath, args: [PROGRAM, JSON.stringify({ about, tools })] }
}

/**
 * Starts servers of 2026-07-28, each at a path of one HTTP server; a call of a `learn_…` adds a tool here
 * too.
 */
export async function serveCatalogue(servers: readonly CatalogueServer[]) {
  const handlers = new Map(servers.map(server => [`/${server.name}`, createHandler(server)]))
  const http = createServer((request, response) => {
    const handler = handlers.get(request.url ?? '')
    if (handler) void handler.serve(request as Parameters<typeof handler.serve>[0], response)
    else response.writeHead(404).end()
  })
  // Everything runs in one process, so a busy moment must not count as an idle connection.
  http.keepAliveTimeout = 60_000
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    entryOf: ({ name }: CatalogueServer) => ({ url: `http://127.0.0.1:${port}/${name}` }),
    async [Symbol.asyncDispose]() {
      await Promise.all([...handlers.values()].map(({ close }) => close()))
      const closed = new Promise(resolve => http.close(resolve))
      http.closeAllConnections()
      await closed
    },
  }
}

function createHandler({ about, tools: first }: CatalogueServer) {
  const tools = [...first]
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'catalogue', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } }, instructions: about },
      )
      server.setRequestHandler('tools/list', () => ({ tools }))
      server.setRequestHandler('tools/call', ({ params: { name } }) => {
        const [model] = tools
        if (model && name.startsWith('learn_')) {
          tools.push({ ...model, name: `${name}_more` })
          handler.notify.toolsChanged()
        }
        return { content: [{ type: 'text', text: `${name} of ${about}` }] }
      })
      return server
    },
    { legacy: 'reject' },
  )
  return { serve: toNodeHandler(handler), close: () => handler.close() }
}
