import { expect, test } from 'vitest'
import { type LabMessage, ROLE } from '../lab/discord-shapes.ts'
import { openClient } from '../support/clients.ts'
import { ada, bob, home, mallory, openDiscordHub, toConfig } from '../support/discord-hub.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { call, say, type Turn } from '../support/scripted-model.ts'
import { until } from '../support/until.ts'

const asking = { servers: { metrics: false, odd: odd().entry }, tools: { approve: ['odd__*'] } }

const ask: Turn[] = [call([['odd__swallow', { path: '/srv' }]]), say('It waits.'), say('It ran.')]
const isCard = ({ components }: LabMessage) => (components ?? []).length > 0

async function openAsked(discord: object = {}) {
  const world = await openDiscordHub(discord, asking)
  await untilReady(world.hub, 'odd')
  world.model.script(...ask)
  world.lab.say(ada, home, 'swallow it')
  const card = await world.lab.messages.find('the card', isCard)
  return { ...world, card }
}

test('strangers and members who are not listed decide nothing; the owner does, and the record says who', async () => {
  await using world = await openAsked({ talk: [ROLE] })
  const { lab, hub, card, answered, requested } = world
  expect(card.content).toMatch(
    /\*\*homelab\*\* asks for a yes \(approval 1\) to `odd__swallow`:[\s\S]*"\/srv"/,
  )
  for (const who of [mallory, bob]) {
    const from = lab.requests.length
    lab.press(who, card, 'approve')
    expect((await requested(/^POST \/api\/v10\/webhooks/, from)).json).toMatchObject({
      content: expect.stringContaining('You may not answer this'),
      flags: 64,
    })
  }
  lab.react(mallory, card, '✅')
  await hub.logs.find(
    'all three are refused',
    () => hub.logs.all.filter(({ event }) => event === 'discord_decision_refused').length === 3,
  )
  lab.press(ada, card, 'approve')
  await answered('It ran.')
  await until('the card says how it was decided', () => card.edited)
  expect(card).toMatchObject({
    components: [],
    content: expect.stringContaining('**approved** by ada (Discord 1'),
  })
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  expect((await client.call('hub_list_approvals', {})).structuredContent).toMatchObject({
    approvals: [
      { status: 'approved', decidedBy: 'ada (Discord 100000000000000001)', decidedWhere: 'discord' },
    ],
  })
})

test('a reaction of somebody with a listed role decides', async () => {
  await using world = await openAsked({ approve: [ROLE] })
  world.lab.react(bob, world.card, '🎉')
  world.lab.react(bob, world.card, '❌')
  await until('the card says how it was decided', () => world.card.edited)
  expect(world.card.content).toContain('**denied** by bob (Discord 100000000000000002)')
})

test('what was decided elsewhere while the hub was away is told at the next start', async () => {
  await using world = await openAsked()
  const { hub, card, untilConnected } = world
  await hub.stop()
  hub.writeConfig(JSON.stringify({ servers: { metrics: false, odd: odd().entry } }))
  await hub.start()
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({ problems: [] })
  hub.writeConfig(toConfig(world.lab, {}, asking))
  await untilConnected()
  expect(card.edited).toBeUndefined()
  world.lab.press(ada, card, 'deny')
  await until('the card says how it was decided', () => card.edited)
})
