import type { Tool } from '@modelcontextprotocol/server'

const VERBS = [
  'create',
  'list',
  'delete',
  'update',
  'find',
  'restart',
  'pause',
  'export',
  'compare',
  'archive',
]
const KINDS = ['daily', 'shared', 'old']
const THINGS =
  'backup camera playlist invoice container thermostat ticket branch dashboard calendar recipe firewall printer episode volume contact certificate sensor mailbox photo route vehicle garden lease subtitle snapshot webhook battery library shift parcel antenna compost tide orchard telescope aquarium piano kiln beehive sauna drone loom cellar ferry glacier harvest lantern meadow quarry'.split(
    ' ',
  )

/** Number of servers, and of tools in each, that have distinct names. */
export const MOST = { servers: THINGS.length, tools: VERBS.length * KINDS.length }

/** Returns the words that describe a tool, by which it is found. */
export function wordsOf(server: number, tool: number): string[] {
  const verb = VERBS[tool % VERBS.length] ?? ''
  const kind = KINDS[Math.floor(tool / VERBS.length)] ?? ''
  return [verb, kind, THINGS[server] ?? '']
}

/** Returns a tool of some 600 bytes, described as real servers do. */
export function toCatalogueTool(server: number, tool: number): Tool {
  const words = wordsOf(server, tool)
  const [verb, kind, thing] = words
  return {
    name: words.join('_'),
    title: `${verb} ${kind} ${thing}`,
    description: `Use it to ${verb} a ${kind} ${thing} by its name, or every ${thing} that fits. Returns what was done, one line for each.`,
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: `Name of the ${thing}` },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most' },
        since: { type: 'string', description: 'Only what changed after this time, ISO 8601' },
      },
      required: ['name'],
    },
    annotations: { readOnlyHint: verb === 'list' || verb === 'find', openWorldHint: false },
  }
}
