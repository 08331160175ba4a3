import type { Tool } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { createListChanges } from './list-changes.ts'

const toTool = (name: string, description: string): Tool => ({
  name,
  description,
  inputSchema: { type: 'object' },
})

test('only lists with what changed are told', () => {
  const lamp = toTool('lamp_on', 'Turns it on')
  const door = toTool('door_open', 'Opens it')
  let tools = [lamp, door]
  const changes = createListChanges({
    tools: () => tools,
    toolsets: () => ['lamps', 'doors'],
    gives: (toolset, name) => name.startsWith(toolset.slice(0, 4)),
  })
  tools = [lamp, toTool('door_open', 'Opens it wide')]
  expect(changes.look()).toEqual(new Set([undefined, 'doors']))
  tools = [lamp, toTool('door_open', 'Opens it wide')]
  expect(changes.look()).toEqual(new Set())
})
