import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createToolFinder } from './find-tools.ts'
import type { Servers } from './servers.ts'
import { createToolBox } from './tool-box.ts'

function makeToolBox(annotations: Tool['annotations'], rerun: string[] = []) {
  const definition: Tool = {
    name: 'x',
    inputSchema: { type: 'object' },
    ...(annotations ? { annotations } : {}),
  }
  const tool = { name: 'x', definition }
  const servers: Pick<Servers, 'catalogue' | 'find' | 'call'> = {
    catalogue: [tool] as unknown as Servers['catalogue'],
    find: (() => tool) as unknown as Servers['find'],
    call: () => Promise.reject(new Error('not called')),
  }
  return createToolBox(servers as Servers, [], { rerun: () => rerun, finder: createToolFinder(() => []) })
}

test.each([
  [undefined, [], [false, false, true]],
  [{ readOnlyHint: true }, [], [true, true, false]],
  [{ idempotentHint: true }, [], [false, true, false]],
  [{ idempotentHint: true, destructiveHint: true }, [], [false, true, false]],
  [{ destructiveHint: false }, [], [false, false, false]],
  [{ readOnlyHint: false, destructiveHint: true }, [], [false, false, true]],
  [undefined, ['x'], [false, true, false]],
  [{ destructiveHint: true }, ['*', '!x'], [false, false, true]],
])(
  'promise 3: annotations %j with tools.rerun %j',
  (annotations, rerun, [reads, repeatable, destructive]) => {
    const tool = makeToolBox(annotations, rerun).find('x', ['*'])
    expect(tool).toMatchObject({ kind: 'server', reads, repeatable, destructive })
  },
)
