import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type HomelabHub, openRealHomelab, type RealHomelab } from './setup/homelab.ts'

/*
 * The three flows of a homelab: the hub's own process and its five servers with a Quake 3 server in a
 * container, a SABnzbd with a queue and an ntfy, all real. Bots play the people, and the machine is read from
 * recorded files. Results are read from these programs, never from the hub.
 */

const LONG = '30m'

let home: RealHomelab
beforeAll(async () => {
  home = await openRealHomelab()
}, 180_000)
afterAll(() => home?.[Symbol.asyncDispose](), 60_000)

beforeEach(() => home.arena.renew())
afterEach(async () => {
  home.host.setTemperature(47)
  await home.resumeSabnzbd()
})

const untilPaused = (paused: boolean) =>
  until(`SABnzbd says paused: ${paused}`, async () => (await home.sabnzbd()).paused === paused)
const untilExited = () =>
  until('the container ended', async () => (await home.arena.state()) === 'exited', { within: 40_000 })
const untilAsked = (hub: HomelabHub, times: number) =>
  until(`the model was asked ${times} times`, () => hub.asked >= times)
const saidBy = (hub: HomelabHub) =>
  hub.chat.messages.flatMap(({ kind, text }) => (kind === 'agent' ? [text] : []))

describe('a model that plays the flows', { timeout: 90_000 }, () => {
  test('1, a slow game server: the downloads pause, the phone is told, and they go on later', async () => {
    await using hub = await home.startHub({ story: { pause: '4s', cool: LONG, idle: LONG } })
    await hub.untilPlayed(home.arena)
    const asked = await hub.chat.say('homelab', 'The game server is slow')
    await untilPaused(true)
    const pausedAt = performance.now()
    expect((await hub.chat.answerTo(asked)).text).toContain('I paused them')
    expect(await hub.phone()).toEqual(['Downloads are paused so that arena runs well.'])
    await untilPaused(false)
    expect(performance.now() - pausedAt).toBeGreaterThan(3_500)
    await until('it says so', () => saidBy(hub).includes('The downloads go on.'))
    const { slots } = await home.sabnzbd()
    expect(slots.map(({ filename }) => filename)).toEqual(['Sintel.1080p', 'Tears.of.Steel.1080p'])
    expect(await hub.phone()).toHaveLength(1)
  })

  test('1, a slow game server: the downloads go on early when the last player leaves', async () => {
    await using hub = await home.startHub({ story: { pause: LONG, cool: LONG, idle: LONG } })
    await hub.untilPlayed(home.arena)
    await hub.chat.answerTo(await hub.chat.say('homelab', 'The game server is slow'))
    await untilPaused(true)
    await home.arena.leave()
    await untilPaused(false)
    expect(await home.arena.state()).toBe('running')
  })

  test('2, a hot machine: one warning, looks again while it is hot, and silence once it is cool', async () => {
    await using hub = await home.startHub({ story: { pause: LONG, cool: '2s', idle: LONG } })
    home.host.setTemperature(91)
    await until('the phone is warned', async () => (await hub.phone()).length > 0)
    // Three requests to the model for the warning and two for the check of a machine that is still hot.
    await untilAsked(hub, 5)
    home.host.setTemperature(52)
    await until('its task is over', async () => {
      const { structuredContent } = await hub.client.call('hub_list_threads')
      const { threads } = structuredContent as { threads: { kind: string; status: string }[] }
      return threads.some(({ kind, status }) => kind === 'task' && status === 'complete')
    })
    expect(await hub.phone()).toEqual(['The CPU runs hot. I look again in a while.'])
    expect(saidBy(hub)).toEqual([])
  })

  test('3, an empty game server: its container is stopped after a while, which is no crash', async () => {
    await using hub = await home.startHub({ story: { pause: LONG, cool: LONG, idle: '4s' } })
    await hub.untilPlayed(home.arena)
    await home.arena.leave()
    const leftAt = performance.now()
    await until('the wait begins', () => hub.asked > 0)
    expect(await home.arena.state()).toBe('running')
    await untilExited()
    expect(performance.now() - leftAt).toBeGreaterThan(3_500)
    expect(await hub.events()).not.toContain('server_crash')
  })

  test('3, an empty game server: somebody joins in time, and it is left alone', async () => {
    await using hub = await home.startHub({ story: { pause: LONG, cool: LONG, idle: '5s' } })
    await hub.untilPlayed(home.arena)
    await home.arena.leave()
    await until('the wait begins', () => hub.asked > 0)
    await hub.client.call('hub_create_schedule', { delay: '7s', reason: 'long after the wait' })
    await home.arena.join()
    await until('the schedule came', () => saidBy(hub).some(text => text.includes('three stories')))
    expect(await home.arena.state()).toBe('running')
  })
})

/*
 * Without a language model, questions are answered, changes wait for an approval, and events are reported. A
 * person decides what to do about an event, and when.
 */
describe('without a model', { timeout: 90_000 }, () => {
  let hub: HomelabHub
  beforeAll(async () => {
    hub = await home.startHub({})
  }, 60_000)
  afterAll(() => hub?.[Symbol.asyncDispose]())

  const ask = async (text: string) => (await hub.chat.answerTo(await hub.chat.say('homelab', text))).text
  const untilSaid = (words: RegExp) =>
    until(`it says ${words}`, () => saidBy(hub).some(text => words.test(text)))
  /** Requests a change, and approves it. */
  const change = async (text: string) => {
    const [, id = ''] = /person's yes \(approval (apr_\w+)/.exec(await ask(text)) ?? []
    hub.chat.send({ type: 'decide', approval: id, decision: 'approve' })
    const { approval } = await hub.chat.next('approval', one => one.approval.id === id)
    return approval
  }

  test('1: count players, pause for a time, tell the phone and resume when asked, each after a yes', async () => {
    await home.arena.join()
    expect(await ask('how many players are on arena')).toContain('1 player of at most 8')
    await change('pause downloads for 30 minutes')
    await until('they pause', async () => (await home.sabnzbd()).paused)
    expect(await home.sabnzbd()).toMatchObject({ pause_int: expect.stringMatching(/^(30|29):/) })
    await change('send a notification to phone: the downloads are paused')
    await until('the phone shows it', async () => (await hub.phone()).length > 0)
    expect(await hub.phone()).toEqual(['the downloads are paused'])
    await change('resume downloads')
    await until('they go on', async () => !(await home.sabnzbd()).paused)
  })

  test('2: look at a hot machine and tell of it; nobody is warned without being asked to', async () => {
    const told = (await hub.phone()).length
    home.host.setTemperature(91)
    await until('the event is handled', async () => (await hub.events('handled')).includes('temp_high'))
    expect(await ask('how hot is it?')).toContain('Temperature: coretemp Package id 0 91 °C')
    await untilSaid(/temp_high/)
    expect(await hub.phone()).toHaveLength(told)
  })

  test('3: tell that the last player left; the container stops when asked, and after a yes', async () => {
    await hub.untilPlayed(home.arena)
    await home.arena.leave()
    await untilSaid(/server_empty/)
    expect(await home.arena.state()).toBe('running')
    const approval = await change('stop the arena server')
    expect(approval).toMatchObject({ tool: 'stop_game_server', arguments: { server: 'arena' } })
    await untilExited()
  })
})
