import type { Tool } from '@modelcontextprotocol/client'
import type { ToolClass } from '../../schemas/power.ts'
import { FIND_TOOLS } from '../core/lean-tools.ts'
import type { MetaTool } from '../meta-tools/meta-tool.ts'
import { declaredClass } from './model-tool.ts'
import type { Servers } from './servers.ts'

/** Creates a function that returns the server and the class of a tool, and undefined for any other name. */
export function createDescribeTool(
  servers: Pick<Servers, 'catalogue' | 'specOf'>,
  hubTools: readonly { definition: object }[],
  metaTools: readonly Pick<MetaTool, 'name' | 'readOnly'>[],
) {
  const own = new Map<string, ToolClass>([
    ...metaTools.map(({ name, readOnly }) => [name, readOnly ? 'look' : 'change'] as const),
    ...hubTools.map(tool => {
      const definition = tool.definition as Tool
      return [definition.name, declaredClass(definition, 'own')] as const
    }),
    [FIND_TOOLS, 'look'],
  ])
  // A definition stays the same object for as long as its server offers the same.
  const described = new WeakMap<Tool, { server: string; toolClass: ToolClass }>()
  return (name: string): { server: string; toolClass: ToolClass } | undefined => {
    const ownClass = own.get(name)
    if (ownClass !== undefined) return { server: 'hub', toolClass: ownClass }
    const tool = servers.catalogue.tool(name)
    if (!tool) return undefined
    const { server, definition } = tool
    const known = described.get(definition) ?? {
      server,
      toolClass: declaredClass(definition, servers.specOf(server)?.trust ?? 'third'),
    }
    described.set(definition, known)
    return known
  }
}
