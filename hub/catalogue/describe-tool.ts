import type { Tool } from '@modelcontextprotocol/client'
import type { ToolClass, ToolFacts } from '../../schemas/power.ts'
import { FIND_TOOLS } from '../core/lean-tools.ts'
import type { MetaTool } from '../meta-tools/meta-tool.ts'
import { declaredClass } from './model-tool.ts'
import type { Servers } from './servers.ts'
import { type Pins, toFacts } from './tool-box.ts'

export interface DescribeToolDeps {
  hubTools: readonly { definition: object }[]
  pins: Pins
  /** Returns the class of a server's tool under the operator's rules. */
  classOf: (facts: ToolFacts) => ToolClass
}

/** Creates a function that returns the server and the class of a tool, and undefined for any other name. */
export function createDescribeTool(
  servers: Pick<Servers, 'catalogue' | 'specOf'>,
  metaTools: readonly Pick<MetaTool, 'name' | 'readOnly'>[],
  { hubTools, pins, classOf }: DescribeToolDeps,
) {
  const own = new Map<string, ToolClass>([
    ...metaTools.map(({ name, readOnly }) => [name, readOnly ? 'look' : 'change'] as const),
    ...hubTools.map(tool => {
      const definition = tool.definition as Tool
      return [definition.name, declaredClass(definition, 'own')] as const
    }),
    [FIND_TOOLS, 'look'],
  ])
  return (name: string): { server: string; toolClass: ToolClass } | undefined => {
    const ownClass = own.get(name)
    if (ownClass !== undefined) return { server: 'hub', toolClass: ownClass }
    const tool = servers.catalogue.tool(name)
    if (!tool) return undefined
    const { server, definition } = tool
    return { server, toolClass: classOf(toFacts(definition, servers.specOf(server), pins)) }
  }
}
