import { expect, test } from 'vitest'
import { RETRY_MS } from '../../hub/channels/discord/discord.ts'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { ROLE } from '../lab/discord-shapes.ts'
import { openClient } from '../support/clients.ts'
import {
  ada,
  bob,
  direct,
  home,
  lobby,
  mallory,
  openDiscordHub,
  openLab,
  robot,
  thread,
  toConfig,
} from '../support/discord-hub.ts'
import { hold, say } from '../support/scripted-model.ts'
import { startTestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'

const MENTION = '<@500000000000000001>'

test('a message in a listed channel is answered there, quoted as a person, without pinging anyone', async () => {
  await using world = await openDiscordHub()
  const { lab, model, answered } = world
  model.script(say('All is well, @everyone.'), say('Fine.'))
  const asked = lab.say(ada, home, 'how are the disks?')
  expect(await answered('All is well')).toMatchObject({
    channel_id: home.id,
    allowed_mentions: { parse: [] },
    message_reference: { message_id: asked.id },
    flags: 4,
  })
  expect(JSON.stringify(model.requests.all[0])).toContain('Message from ada (Discord 100000000000000001) in')
  expect(lab.requests.some(({ route }) => route === `POST /api/v10/channels/${home.id}/typing`)).toBe(true)
  // Discord may deliver an event again.
  lab.repeat(asked)
  lab.say(ada, home, 'and now?')
  await answered('Fine.')
  expect(lab.said(home.id)).toEqual(['All is well, @everyone.', 'Fine.'])
})

test('a thread, a direct message and a mention elsewhere have conversations of their own; talk elsewhere is no business of the bot', async () => {
  await using world = await openDiscordHub()
  const { lab, model, answered } = world
  model.script(say('In the thread.'), say('In private.'), say('In the lobby.'))
  lab.say(ada, lobby, 'not for the bot')
  lab.say(ada, thread, 'which disk?')
  await answered('In the thread.')
  lab.say(ada, direct, 'hello')
  await answered('In private.')
  lab.say(ada, lobby, `${MENTION} and here?`)
  await answered('In the lobby.')
  expect([thread, direct, lobby].map(({ id }) => lab.said(id))).toEqual([
    ['In the thread.'],
    ['In private.'],
    ['In the lobby.'],
  ])
  const told = JSON.stringify(model.requests.all)
  expect(told).toContain(`conversation homelab/discord-${thread.id}`)
  expect(told).not.toContain('not for the bot')
  expect(told).not.toContain('@hub')
})

test('strangers, bots and webhooks get no answer, and their words reach no model', async () => {
  await using world = await openDiscordHub()
  const { lab, model, answered } = world
  lab.say(mallory, home, 'secret 1')
  lab.say(mallory, lobby, `${MENTION} secret 2`)
  lab.say(mallory, direct, 'secret 3')
  lab.say(robot, home, 'secret 4')
  lab.say(ada, home, 'secret 5', { webhook: true })
  lab.command(mallory, home, 'ask', { text: 'secret 6' })
  lab.command(mallory, home, 'status')
  lab.command(mallory, home, 'stop')
  model.script(say('Yours.'))
  lab.say(ada, home, 'mine')
  await answered('Yours.')
  const refused = () => lab.requests.filter(({ route }) => /webhooks.*messages/.test(route))
  await until('the commands are refused', () => refused().length === 3)
  for (const { json } of refused())
    expect(json).toMatchObject({
      content: expect.stringMatching(/answers only the people|is for the people/),
    })
  expect(model.requests.all).toHaveLength(1)
  expect(JSON.stringify(model.requests.all)).not.toContain('secret')
})

test('a guest talks in a conversation of the own, with the power of a guest', async () => {
  await using world = await openDiscordHub({ strangers: 'guests' })
  const { lab, model, answered } = world
  model.script(say('Hello, guest.'))
  lab.say(mallory, home, 'hello')
  await answered('Hello, guest.')
  expect(JSON.stringify(model.requests.all)).toContain(`homelab/discord-${mallory.id}.${home.id}`)
  lab.say(mallory, home, '/stop')
  await answered('Guests have no commands')
})

test('a guest who floods is limited and told once, and the owner comes before all of it', async () => {
  await using world = await openDiscordHub({ strangers: 'guests' })
  const { lab, model, answered } = world
  model.script(...Array.from({ length: 11 }, () => say('Heard.')))
  for (let n = 1; n <= 300; n++) lab.say(mallory, home, `spam ${n}.`)
  lab.say(ada, home, 'I own this')
  await answered('That is more than a guest may send')
  const asked = () => JSON.stringify(model.requests.all)
  await until('both are heard', () => asked().includes('I own this') && asked().includes('spam 10.'))
  lab.say(ada, home, '/help')
  await answered('/reset')
  expect(asked()).not.toContain('spam 11.')
  expect(lab.said(home.id).filter(text => text.startsWith('That is more'))).toHaveLength(1)
})

test('commands are acknowledged first: /ask asks, /status is for the owner, /stop stops', async () => {
  await using world = await openDiscordHub({ talk: [ROLE] })
  const { lab, model, answered, requested } = world
  model.script(say('Quite well.'))
  const id = lab.command(ada, home, 'ask', { text: 'how are you?' })
  await answered('Quite well.')
  const first = lab.requests.find(({ route }) => route.includes(id))
  expect(first?.route).toMatch(/\/callback$/)
  expect(first?.json).toMatchObject({ type: 5 })
  expect((await requested(new RegExp(`webhooks/.*token-${id}`))).json).toMatchObject({
    content: '> how are you?',
  })
  const status = lab.command(ada, home, 'status')
  expect((await requested(new RegExp(`webhooks/.*token-${status}`))).json).toMatchObject({
    content: expect.stringContaining('superbloom'),
  })
  const others = lab.command(bob, home, 'status')
  expect((await requested(new RegExp(`webhooks/.*token-${others}`))).json).toMatchObject({
    content: expect.stringContaining('Only the owner'),
  })
  const { turn, begun } = hold(say('never'))
  model.script(turn)
  lab.say(ada, home, 'think for long')
  await begun
  const stop = lab.command(bob, home, 'stop')
  expect((await requested(new RegExp(`webhooks/.*token-${stop}`))).json).toMatchObject({
    content: 'Stopping.',
  })
  await answered('stopped')
})

test('three people at once get their own answers, each below the own question', async () => {
  await using world = await openDiscordHub({ talk: [ROLE] })
  const { lab, model } = world
  const carol = { id: '100000000000000003', username: 'carol', roles: [ROLE] }
  const { turn, begun, release } = hold(say('Answer to ada.'))
  model.script(turn, say('Answer to the others.'))
  const first = lab.say(ada, home, 'one')
  await begun
  lab.say(bob, home, 'two')
  const last = lab.say(carol, home, 'three')
  await until(
    'all are stored',
    () => lab.requests.filter(({ route }) => route.endsWith('/typing')).length >= 3,
  )
  release()
  await world.answered('Answer to the others.')
  const answers = lab.messages.all.filter(({ author }) => author.bot)
  expect(answers.map(({ content, message_reference }) => [content, message_reference?.message_id])).toEqual([
    ['Answer to ada.', first.id],
    ['Answer to the others.', last.id],
  ])
})

test('a long reply comes in parts of whole code blocks, in order', async () => {
  await using world = await openDiscordHub()
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index}: all is well`)
  world.model.script(say(`\`\`\`text\n${lines.join('\n')}\n\`\`\`\nThat is all.`))
  world.lab.say(ada, home, 'the log, please')
  await world.answered('That is all.')
  const said = world.lab.said(home.id)
  expect(said.length).toBeGreaterThan(3)
  for (const part of said) {
    expect(part.length).toBeLessThanOrEqual(2_000)
    expect(part.match(/```/g)).toHaveLength(2)
  }
  expect(said.join('\n').match(/line \d+:/g)).toEqual(lines.map((_, index) => `line ${index}:`))
})

test('what was written while the connection was lost or the hub was down is answered once', async () => {
  await using world = await openDiscordHub()
  const { lab, model, hub, answered, untilConnected } = world
  model.script(say('First.'), say('Second.'), say('Third.'), say('Fourth.'))
  lab.say(ada, home, 'one')
  await answered('First.')
  lab.gateway.drop()
  lab.say(ada, home, 'two')
  await lab.gateway.seen.find('it resumes', what => what === 'resumed')
  await answered('Second.')
  lab.gateway.forget()
  lab.say(ada, home, 'three', { isLost: true })
  lab.gateway.drop()
  await answered('Third.')
  await hub.stop()
  lab.say(ada, home, 'four', { isLost: true })
  lab.say(mallory, home, 'five', { isLost: true })
  await hub.start()
  await untilConnected()
  await answered('Fourth.')
  expect(lab.said(home.id)).toEqual(['First.', 'Second.', 'Third.', 'Fourth.'])
})

test('a reply that Discord took without saying so is not posted twice, and the order stays', async () => {
  await using world = await openDiscordHub()
  const { lab, model, hub, answered, untilConnected } = world
  model.script(say('Once.'), say('Then.'))
  lab.failPosts({ times: 1_000, isAfter: true })
  lab.say(ada, home, 'one')
  await answered('Once.')
  await hub.stop()
  lab.failPosts(undefined)
  await hub.start()
  await untilConnected()
  lab.say(ada, home, 'two')
  await answered('Then.')
  expect(lab.said(home.id)).toEqual(['Once.', 'Then.'])
})

test.each([
  ['the intent is off', 'MESSAGE CONTENT', {}, false],
  ['the token is wrong', 'does not take the token', { token: 'wrong' }, true],
])('%s: the status says what to do, and the hub goes on', async (_name, words, discord, allowed) => {
  const lab = await openLab()
  lab.allowContent(allowed)
  await using hub = await startTestHub({ config: toConfig(lab, discord) })
  await hub.logs.find('the login fails', ({ event }) => event === 'discord_login_failed')
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    problems: [expect.stringContaining(words)],
  })
  // Once it is mended, a changed config connects.
  lab.allowContent(true)
  hub.writeConfig(toConfig(lab, { talk: [ROLE] }))
  await hub.logs.find('the bot is connected', ({ event }) => event === 'discord_connected')
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({ problems: [] })
})

const AUTHOR = { id: ada.id, username: 'ada' }
test('events that the library throws at are skipped and told, and the hub goes on', async () => {
  await using world = await openDiscordHub()
  const { lab, model, hub, answered } = world
  const from = hub.logs.all.length
  const events: [string, unknown][] = [
    ['MESSAGE_CREATE', { id: '1', channel_id: home.id, content: 'x', author: null }],
    ['MESSAGE_CREATE', null],
    [
      'INTERACTION_CREATE',
      { id: '1', token: 't', type: 3, data: { custom_id: 'approve:x', component_type: 2 } },
    ],
    ['MESSAGE_REACTION_ADD', { user_id: AUTHOR.id, channel_id: home.id, message_id: '1', emoji: null }],
  ]
  for (const [type, data] of events) lab.gateway.dispatch(type, data)
  model.script(say('Still here.'))
  lab.say(ada, home, 'are you there?')
  await answered('Still here.')
  const failed = hub.logs.all.slice(from).filter(({ event }) => event === 'discord_frame_failed')
  expect(failed.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['MESSAGE_CREATE', 'INTERACTION_CREATE']),
  )
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  expect((await client.call('hub_status', {})).structuredContent).toMatchObject({
    problems: [expect.stringMatching(/^Discord sent what the hub cannot read .*skipped/)],
  })
})

test.each([
  ['READY', {}],
  ['READY', null],
  ['error', {}],
])('%s %j leaves nothing to go on with: the bot connects again', async (type, data) => {
  const soon: Clock = {
    ...systemClock,
    after: (ms, run) => systemClock.after(ms === RETRY_MS.unreachable ? 0 : ms, run),
  }
  await using world = await openDiscordHub({}, {}, { clock: soon })
  const { lab, model, hub, answered } = world
  const from = hub.logs.all.length
  lab.gateway.dispatch(type, data)
  const failed = await hub.logs.find('it is told', ({ event }) => event === 'discord_login_failed', from)
  expect(failed['problem']).toMatch(/^Discord sent what the hub cannot read .* connects again/)
  await hub.logs.find('the bot is connected', ({ event }) => event === 'discord_connected', from)
  model.script(say('Here again.'))
  lab.say(ada, home, 'are you there?')
  await answered('Here again.')
})
