import { afterEach, expect, test } from 'vitest'
import { odd, untilReady } from '../support/downstream.ts'
import { type FaultWorld, openFaultWorld } from '../support/fault-world.ts'
import { childrenOf } from '../support/processes.ts'
import { until } from '../support/until.ts'

let world: FaultWorld

afterEach(() => world[Symbol.asyncDispose]())

test('calls that hang end at their own time limit; after three the server is degraded until it answers one', async () => {
  world = await openFaultWorld({ mute: { ...odd('silent').entry, timeout: '1s' } })
  await untilReady(world.hub, 'mute')
  const pid = await world.pidOf('mute')
  await world.unharmedBy(async () => {
    for (let count = 0; count < 3; count++) {
      expect((await world.statusOf('mute'))?.state).toBe('ready')
      expect(await world.call('mute__swallow')).toEqual({
        isError: true,
        text: expect.stringMatching(/longer than 1 s/),
      })
    }
    expect(await world.untilState('mute', 'degraded')).toMatchObject({
      error: expect.stringMatching(/^3 calls in a row got no answer/),
    })
  })
  expect(await world.pidOf('mute')).toBe(pid)
  await world.untilState('mute', 'ready')
})

test('one that reads nothing any more is started anew', async () => {
  world = await openFaultWorld({ deaf: { ...odd('deaf').entry, timeout: '1s' } })
  await untilReady(world.hub, 'deaf')
  const pid = () => childrenOf().find(({ command }) => command.endsWith('deaf'))?.pid
  const before = pid()
  await world.unharmedBy(async () => {
    await Promise.all([1, 2, 3].map(() => world.call('deaf__swallow')))
    const down = await world.hub.logs.find('it is down', one => one.event === 'server_down')
    expect(down['error']).toMatch(/no answer/)
    await world.untilState('deaf', 'ready')
  })
  expect(pid()).not.toBe(before)
})

test('answers that are none fail the one call at most', async () => {
  world = await openFaultWorld({ bad: { ...odd('tool=garbage').entry, timeout: '1s' } })
  await untilReady(world.hub, 'bad')
  const pid = await world.pidOf('bad')
  await world.unharmedBy(async () => {
    expect(await world.call('bad__garbage')).toMatchObject({ isError: true })
    expect(await world.pidOf('bad')).toBe(pid)
  })
})

test('an answer that is no JSON is logged once, and the timeout says that the server wrote no message', async () => {
  world = await openFaultWorld({ bad: { ...odd('tool=stray').entry, timeout: '1s' } })
  await untilReady(world.hub, 'bad')
  await world.unharmedBy(async () => {
    for (let count = 0; count < 2; count++) {
      expect(await world.call('bad__stray')).toEqual({
        isError: true,
        text: expect.stringMatching(/longer than 1 s.*wrote something that is no message/),
      })
    }
  })
  const told = world.hub.logs.all.filter(({ event }) => event === 'no_message')
  expect(told).toMatchObject([{ level: 'warn', server: 'bad', line: expect.stringMatching(/no such thing/) }])
})

test('one that answers the first request with garbage is down, and says so', async () => {
  world = await openFaultWorld({ bad: { ...odd('garbled').entry, connectTimeout: '1s' } })
  await world.hub.logs.find('it is down', one => one.event === 'server_down')
  await world.unharmedBy(() =>
    world.hub.logs.find('it is tried again', one => one.event === 'server_down', world.hub.logs.all.length),
  )
  expect(['down', 'starting']).toContain((await world.statusOf('bad'))?.state)
})

test('one that floods with notifications answers, and so do the others', async () => {
  world = await openFaultWorld({ loud: odd('flood-notes').entry })
  await untilReady(world.hub, 'loud')
  await world.unharmedBy(async () => {
    for (let count = 0; count < 3; count++) expect(await world.pidOf('loud')).toBeGreaterThan(0)
  })
  // The calls that find the others unharmed have lines of their own.
  const notes = world.hub.logs.all.filter(({ event }) => event !== 'tool_called')
  expect(notes.length).toBeLessThan(5_000)
})

test('one that changes its tools in the middle of a call: the call ends well, and the new tool is there', async () => {
  world = await openFaultWorld({ moody: odd('tool=change').entry })
  await untilReady(world.hub, 'moody')
  await world.unharmedBy(async () => {
    const calls = [1, 2, 3].map(() => world.call('moody__change'))
    expect(await Promise.all(calls)).toEqual(Array(3).fill({ text: 'changed', isError: false }))
    await until('the new tools are there', async () => {
      const names = (await world.client.listTools()).map(({ name }) => name)
      return ['moody__later4', 'moody__later5', 'moody__later6'].every(name => names.includes(name))
    })
  })
  expect((await world.call('moody__later4')).isError).toBe(false)
})
