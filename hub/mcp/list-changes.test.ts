import type { Tool } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createListChanges } from './list-changes.ts'

/** Creates a tool that counts how often it is written. */
function toTool(name: string, description: string) {
  const written = { times: 0 }
  const definition: Tool = { name, description, inputSchema: { type: 'object' } }
  const tool = Object.assign(
    Object.create({ toJSON: () => ++written.times && { ...definition } }),
    definition,
  )
  return { tool: tool as Tool, written }
}

test('only lists with what changed are told, and what did not change is not written anew', () => {
  const lamp = toTool('lamp_on', 'Turns it on')
  const door = toTool('door_open', 'Opens it')
  let tools = [lamp.tool, door.tool]
  const changes = createListChanges({
    tools: () => tools,
    toolsets: () => ['lamps', 'doors'],
    gives: (toolset, name) => name.startsWith(toolset.slice(0, 4)),
  })
  const wide = toTool('door_open', 'Opens it wide')
  tools = [lamp.tool, wide.tool]
  expect(changes.look()).toEqual(new Set([undefined, 'doors']))
  tools = [lamp.tool, toTool('door_open', 'Opens it wide').tool]
  expect(changes.look()).toEqual(new Set())
  expect([lamp, door, wide].map(({ written }) => written.times)).toEqual([1, 1, 1])
})
