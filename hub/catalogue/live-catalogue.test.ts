import type { Resource, Tool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createRecord } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { NO_OFFER, type Offer } from '../upstream/offer.ts'
import type { Part } from './catalogue.ts'
import { openCatalogue } from './live-catalogue.ts'
import { NO_OWNERS } from './name-owners.ts'

const lines = createRecord<{ event: string; server?: string }>()

async function open() {
  const read = Promise.withResolvers<void>()
  const live = openCatalogue(
    {
      log: createLog({ level: 'error', now: () => 0, write: line => lines.add(JSON.parse(line)) }),
      taken: { tools: new Set(), prompts: new Set(), isOwn: uri => uri.startsWith('hub://') },
      longestName: () => 64,
      names: { read: async () => NO_OWNERS, save: async () => undefined },
      toolRules: () => ({}),
    },
    read.resolve,
  )
  await read.promise
  return live
}

const server = (name: string, offer: Partial<Offer>): Part => ({
  spec: { name, origin: 'config', prefix: `${name}__`, transport: { kind: 'http', url: '', headers: {} } },
  offer: { ...NO_OFFER, ...offer },
  instructions: '',
  status: { state: 'ready', era: 'modern', transport: 'http' },
})
const tool = (name: string): Tool => ({ name, inputSchema: { type: 'object' } })
const resource = (uri: string): Resource => ({ uri, name: uri })
const namesOf = ({ catalogue }: Awaited<ReturnType<typeof open>>) => catalogue.tools.map(({ name }) => name)

test('a server of which nothing can be made is left out, and the others are there', async () => {
  const live = await open()
  const broken = Object.assign(tool('b'), {
    toJSON() {
      throw new RangeError('Maximum call stack size exceeded')
    },
  })
  const sound = server('one', { tools: [tool('a')] })
  expect(live.look([sound, server('two', { tools: [broken] })])).toMatchObject({ tools: true })
  expect(namesOf(live)).toEqual(['one__a'])
  expect(lines.all).toMatchObject([{ event: 'server_left_out', server: 'two' }])
  live.look([sound, server('two', { tools: [tool('b')] })])
  expect(namesOf(live)).toEqual(['one__a', 'two__b'])
})

test('an address of the hub itself stays its own, and that a server has it too is shown', async () => {
  const live = await open()
  const template = { uriTemplate: 'hub://agents/{name}', name: 'agents' }
  live.look([
    server('one', {
      resources: [resource('hub://agents/homelab'), resource('a://1')],
      resourceTemplates: [template],
    }),
  ])
  expect(live.catalogue.resources.map(({ uri }) => uri)).toEqual(['a://1'])
  expect(live.catalogue.resourceTemplates).toEqual([])
  expect(live.catalogue.hidden).toEqual([
    { server: 'one', uri: 'hub://agents/homelab', owner: 'the hub' },
    { server: 'one', uri: 'hub://agents/{name}', owner: 'the hub' },
  ])
})

test('what did not change is the same object in the next catalogue', async () => {
  const live = await open()
  const one = server('one', { tools: [tool('a')] })
  live.look([one])
  const before = live.catalogue
  live.look([one, server('two', { tools: [tool('b')] })])
  expect(live.catalogue.tools).toHaveLength(2)
  expect(live.catalogue.tools[0]?.definition).toBe(before.tools[0]?.definition)
})

test('a resource whose address is too long to be matched by any template belongs to nobody in particular', async () => {
  const live = await open()
  live.look([server('one', { resourceTemplates: [{ uriTemplate: 'a://{x}', name: 'a' }] })])
  expect(live.catalogue.ownersOf('a://1')).toEqual(['one'])
  expect(live.catalogue.ownersOf(`a://${'x'.repeat(2_000_000)}`)).toEqual(['one'])
})

test("no server is asked for what is the hub's own", async () => {
  const live = await open()
  live.look([server('one', { resources: [resource('hub://agents/homelab'), resource('a://1')] })])
  expect(live.catalogue.ownersOf('a://2')).toEqual(['one'])
  expect(live.catalogue.ownersOf('hub://agents/homelab')).toEqual([])
  expect(live.catalogue.ownersOf('hub://conversations/homelab')).toEqual([])
})
