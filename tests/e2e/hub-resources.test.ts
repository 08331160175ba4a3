import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventFeed } from '../../schemas/events.ts'
import { LINES, openClient, type TestClient } from '../support/clients.ts'
import { openResourceClient, type ResourceClient } from '../support/resource-clients.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

const ASKING = `---
description: Looks after the homelab
prompt:
  text: "Ask about {topic}"
  arguments: [{ name: topic, required: true, values: [disks, games] }]
---
You look after the homelab.
`
const CONVERSATIONS = 'hub://conversations/{+id}'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ agents: { homelab: ASKING, zoe: 'You watch doors.\n' } })
})
afterAll(() => hub[Symbol.asyncDispose]())

describe.each(LINES)('the resources and prompts of the hub, for a client of %s', line => {
  const slug = line.replaceAll(/[^a-z0-9]+/g, '-')
  const conversation = `homelab/${slug}`
  let tools: TestClient
  let client: ResourceClient
  beforeAll(async () => {
    tools = await openClient(line, hub)
    client = await openResourceClient(line, hub)
  })
  afterAll(async () => {
    await client[Symbol.asyncDispose]()
    await tools[Symbol.asyncDispose]()
  })

  const ask = (message: string) => tools.call('hub_chat', { message, conversation })
  const readFeed = async (uri = 'events://hub') => JSON.parse(await client.read(uri)) as EventFeed

  test('they are listed, read and proposed', async () => {
    await ask('/help')
    const uris = await client.listUris()
    expect(uris).toEqual(
      expect.arrayContaining([
        'events://hub',
        'hub://agents/homelab',
        'hub://agents/zoe',
        'hub://conversations/homelab',
        `hub://conversations/${conversation}`,
      ]),
    )
    for (const uri of uris) expect(JSON.parse(await client.read(uri))).toBeTypeOf('object')
    expect(await client.listTemplates()).toEqual(
      expect.arrayContaining(['hub://agents/{name}', CONVERSATIONS, 'events://hub{?after}']),
    )
    expect(JSON.parse(await client.read(`hub://conversations/${conversation}`))).toMatchObject({
      messages: [{ text: '/help' }, { kind: 'agent' }],
      lastSeq: 2,
    })
    expect(JSON.parse(await client.read('hub://agents/zoe'))).toMatchObject({ name: 'zoe', schedules: [] })
    const conversations = { type: 'ref/resource', uri: CONVERSATIONS } as const
    expect(await client.complete(conversations, 'id', `homelab/${slug}`)).toContain(conversation)
    const agents = { type: 'ref/resource', uri: 'hub://agents/{name}' } as const
    expect(await client.complete(agents, 'name', 'z')).toEqual(['zoe'])
    await expect(client.read('hub://agents/nobody')).rejects.toThrow(/no agent nobody; agents: homelab, zoe/)
  })

  test('the prompt of an agent is listed, filled and proposed', async () => {
    expect(await client.promptNames()).toContain('homelab')
    expect(await client.getPrompt('homelab', { topic: 'disks' })).toEqual(['Ask about disks'])
    await expect(client.getPrompt('homelab', {})).rejects.toThrow(/needs topic/)
    const prompt = { type: 'ref/prompt', name: 'homelab' } as const
    expect(await client.complete(prompt, 'topic', 'g')).toEqual(['games'])
  })

  test('who reads only when told of a change gets the last state', async () => {
    await using watching = await openResourceClient(line, hub)
    const own = `hub://conversations/${conversation}`
    const changes = await watching.watch([own, 'hub://agents/homelab', 'events://hub'])
    const before = await readFeed()

    const readAgent = async () => JSON.parse(await watching.read('hub://agents/homelab'))
    const { cycles } = await readAgent()
    const { lastSeq } = JSON.parse(await watching.read(own))

    /** Reads a resource again at each of its changes, and at nothing else, until it fits. */
    const follow = async (uri: string, fits: (state: Record<string, unknown>) => boolean) => {
      for (let from = 0; ; ) {
        await changes.find(`${uri} changed`, change => change === uri, from)
        from = changes.all.length
        if (fits(JSON.parse(await watching.read(uri)))) return
      }
    }
    const told = Promise.all([
      follow(own, state => state['lastSeq'] === lastSeq + 2),
      follow(
        'hub://agents/homelab',
        state => state['status'] === 'sleeping' && state['cycles'] === cycles + 1,
      ),
    ])
    await ask('/tools')
    await told

    await tools.call('hub_publish_event', { type: 'door_open', payload: { door: slug } })
    await changes.find('the events changed', change => change === 'events://hub')
    expect((await readFeed(`events://hub?after=${before.cursor}`)).events).toMatchObject([
      { seq: before.cursor + 1, type: 'door_open', payload: { door: slug } },
    ])

    const added = changes.all.length
    await tools.call('hub_create_schedule', { delay: '2h', reason: `for ${slug}` })
    await changes.find('the agent changed', change => change === 'hub://agents/homelab', added)
    expect(await watching.read('hub://agents/homelab')).toContain(`for ${slug}`)
  })

  test('an agent that comes changes both lists, and one that goes as well', async () => {
    await using watching = await openResourceClient(line, hub)
    const changes = await watching.watch([])
    hub.writeAgent('aunt', ASKING)
    await changes.find('the resources changed', change => change === 'resources')
    await changes.find('the prompts changed', change => change === 'prompts')
    expect(await watching.listUris()).toContain('hub://agents/aunt')
    expect(await watching.promptNames()).toContain('aunt')
    const added = changes.all.length
    hub.removeAgent('aunt')
    await changes.find('the prompts changed', change => change === 'prompts', added)
    expect(await watching.listUris()).not.toContain('hub://agents/aunt')
    expect(await watching.promptNames()).not.toContain('aunt')
  })
})

test('events are read on over a restart of the hub', async () => {
  await using own = await startTestHub()
  const publish = async () => {
    await using tools = await openClient('sdk 2, 2026-07-28', own)
    await tools.call('hub_publish_event', { type: 'door_open' })
    await using client = await openResourceClient('sdk 2, 2026-07-28', own)
    return JSON.parse(await client.read('events://hub?after=0')) as EventFeed
  }
  const before = await publish()
  await own.stop()
  await own.start()
  const after = await publish()
  expect(after).toMatchObject({ stream: before.stream, cursor: 2 })
  expect(after.events.slice(0, 1)).toEqual(before.events)
})
