import { expect, test } from 'vitest'
import type { ModelTool } from '../core/model.ts'
import { createToolLists } from './tool-lists.ts'

const tool = (name: string): ModelTool => ({ name, description: '', inputSchema: { type: 'object' } })

function world() {
  const box = {
    settled: true,
    tools: [tool('a')],
    list: () => [...box.tools],
  }
  const told = createToolLists(box)
  const names = (thread = 't', access = ['*'], whole = false) =>
    told.of(thread, access, whole).map(({ name }) => name)
  return { box, told, names }
}

test('a list stays the same while tools come and go, until the window changes', () => {
  const { box, told, names } = world()
  const first = told.of('t', ['*'], false)
  box.tools = [tool('a'), tool('b')]
  expect(told.of('t', ['*'], false)).toBe(first)
  expect(names('other')).toEqual(['a', 'b'])
  told.renew('t')
  expect(names()).toEqual(['a', 'b'])
})

test('a list is told anew where the file gives other tools, and always to a model that reads all', () => {
  const { box, names } = world()
  expect(names()).toEqual(['a'])
  box.tools = [tool('b')]
  expect(names('t', ['b'])).toEqual(['b'])
  box.tools = [tool('c')]
  expect(names('t', ['b'], true)).toEqual(['c'])
  box.tools = [tool('d')]
  expect(names('t', ['b'], true)).toEqual(['d'])
  expect(names('t', ['b'])).toEqual(['b'])
})

test('the threads that ran last keep their lists, and no others', () => {
  const { box, names } = world()
  names('talks')
  names('rests')
  for (let thread = 0; thread < 31; thread++) {
    names(`task-${thread}`)
    names('talks')
  }
  box.tools = [tool('b')]
  expect([names('talks'), names('rests')]).toEqual([['a'], ['b']])
})

test('a list is not kept while servers still start', () => {
  const { box, names } = world()
  box.settled = false
  expect(names()).toEqual(['a'])
  box.settled = true
  box.tools = [tool('a'), tool('b')]
  expect(names()).toEqual(['a', 'b'])
})
