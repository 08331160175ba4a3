import type { Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { NO_OFFER } from '../upstream/offer.ts'
import { buildCatalogue } from './catalogue.ts'
import { createToolFinder } from './find-tools.ts'
import { declaredClass } from './model-tool.ts'
import { NO_OWNERS } from './name-owners.ts'
import { createToolBox } from './tool-box.ts'

const NOWHERE = { kind: 'http' as const, url: 'http://127.0.0.1:1/', headers: {} }

function makeToolBox(annotations: Tool['annotations'], rerun: string[] = []) {
  const definition: Tool = {
    name: 'x',
    inputSchema: { type: 'object' },
    ...(annotations ? { annotations } : {}),
  }
  const server = {
    spec: { name: 's', origin: 'config' as const, prefix: '', transport: NOWHERE },
    offer: { ...NO_OFFER, tools: [definition] },
    instructions: '',
    status: { state: 'ready' as const, era: 'modern' as const, transport: 'http' as const },
  }
  const servers = {
    catalogue: buildCatalogue([server], {
      taken: { tools: new Set(), prompts: new Set(), isOwn: () => false },
      longest: 64,
      owners: NO_OWNERS,
      toolRules: {},
    }),
    call: async () => ({
      content: [{ type: 'text' as const, text: '4\0 disks' }],
      structuredContent: { 'a\0': 'b\0' },
    }),
    untilListed: async () => undefined,
    whyMissing: (name: string) => `There is no tool ${name} now. The server s is down`,
    settled: true,
    specOf: () => undefined,
  }
  return createToolBox(servers, [], {
    rerun: () => rerun,
    finder: createToolFinder(() => []),
    pins: { risenOf: () => undefined, classOf: tool => declaredClass(tool, 'third') },
  })
}

test.each([
  [undefined, [], [false, false, true], 'change'],
  [{ readOnlyHint: true }, [], [true, true, false], 'look'],
  [{ idempotentHint: true }, [], [false, true, false], 'change'],
  [{ idempotentHint: true, destructiveHint: true }, [], [false, true, false], 'destroy'],
  // The stricter of contradictory annotations counts, so that no foreign cycle runs such a tool unasked.
  [{ readOnlyHint: true, destructiveHint: true }, [], [false, false, true], 'destroy'],
  [{ readOnlyHint: true, destructiveHint: true }, ['x'], [false, true, false], 'destroy'],
  [{ destructiveHint: false }, [], [false, false, false], 'change'],
  [{ destructiveHint: false, openWorldHint: true }, [], [false, false, false], 'send'],
  [{ readOnlyHint: true, openWorldHint: true }, [], [true, true, false], 'look'],
  [{ readOnlyHint: false, destructiveHint: true }, [], [false, false, true], 'destroy'],
  [undefined, ['x'], [false, true, false], 'change'],
  [{ destructiveHint: true }, ['*', '!x'], [false, false, true], 'destroy'],
  [{ destructiveHint: true }, ['x'], [false, true, false], 'destroy'],
])(
  'promises 3 and 14: annotations %j with tools.rerun %j',
  (annotations, rerun, [reads, repeatable, destructive], declared) => {
    const tool = makeToolBox(annotations, rerun).find('x', ['*'])
    const facts = { name: 'x', declared, trust: 'third', isOwnChannel: false }
    expect(tool).toMatchObject({ kind: 'server', reads, repeatable, destructive, facts })
  },
)

test('a model is not told that a tool only reads which calls itself destructive too', () => {
  const [tool] = makeToolBox({ readOnlyHint: true, destructiveHint: true }).list(['*'])
  expect(tool).toMatchObject({ name: 'x', readOnly: false })
})

test('an agent is told why a tool of a server that is not ready is missing, if it may have the tool', () => {
  const box = makeToolBox(undefined)
  expect(box.whyMissing('s__late', ['s__*'])).toContain('The server s is down')
  expect(box.whyMissing('s__late', ['other__*'])).toBeUndefined()
})

test('a result comes to an agent without NUL characters', async () => {
  const tool = makeToolBox(undefined).find('x', ['*'])
  if (tool?.kind !== 'server') throw new Error('no tool of a server')
  const options = {
    agent: 'a',
    signal: AbortSignal.timeout(9_000),
    idempotencyKey: 'k',
    power: 'person' as const,
    onProgress: () => undefined,
  }
  const outcome = await tool.call({}, options)
  expect(outcome).toMatchObject({ isError: false, structured: { a: 'b' } })
  expect(outcome.text).toContain('4 disks')
})
