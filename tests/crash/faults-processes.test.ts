import { afterEach, expect, test } from 'vitest'
import { odd, untilReady } from '../support/downstream.ts'
import { type FaultWorld, openFaultWorld } from '../support/fault-world.ts'
import { childrenOf, isRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'

let world: FaultWorld

afterEach(() => world[Symbol.asyncDispose]())

test('a child is killed: it comes back, and nothing of it is left, not even what holds its pipes', async () => {
  world = await openFaultWorld({ frail: odd('grandchild', 'heir').entry })
  await untilReady(world.hub, 'frail')
  const pid = await world.pidOf('frail')
  const family = [pid, ...childrenOf(pid).map(one => one.pid)]
  await world.unharmedBy(async () => {
    process.kill(pid, 'SIGKILL')
    await until('another runs', async () => {
      const { text, isError } = await world.call('frail__pid')
      return !isError && Number(text) !== pid
    })
  })
  expect(family.filter(isRunning)).toEqual([])
})

test('one that hangs on connect is ended at its own time limit, and tried again without end', async () => {
  world = await openFaultWorld({ hung: { ...odd('hang').entry, connectTimeout: '1s' } })
  const down = await world.hub.logs.find('it is down', one => one.event === 'server_down')
  expect(down['error']).toBe('Connecting took longer than 1 s')
  const hung = () => childrenOf().filter(({ command }) => command.endsWith('hang'))
  await until('it is tried again', () => hung()[0])
  const from = world.hub.logs.all.length
  await world.unharmedBy(async () => {
    await world.hub.logs.find('it is down again', one => one.event === 'server_down', from)
    await until('it is tried again', () => {
      expect(hung().length).toBeLessThan(2)
      return hung()[0]
    })
  })
})

test('one that starts late is there as soon as it can be', async () => {
  world = await openFaultWorld({ late: odd('slow-start').entry })
  expect(await world.statusOf('late')).toMatchObject({ state: 'starting' })
  await world.unharmedBy(() => world.untilState('late', 'ready'))
  expect(await world.pidOf('late')).toBeGreaterThan(0)
})

test("a child sees a few of the hub's variables, and those of its entry", async () => {
  process.env['SUPERBLOOM_TEST_SECRET'] = 'secret'
  try {
    world = await openFaultWorld({ env: { ...odd('tool=env').entry, env: { OWN: '1' } } })
    await untilReady(world.hub, 'env')
    const names = (await world.call('env__env')).text.split(' ')
    expect(names).toEqual(expect.arrayContaining(['OWN', 'PATH']))
    expect(names.filter(name => name.startsWith('SUPERBLOOM') || name.startsWith('VITEST'))).toEqual([])
  } finally {
    delete process.env['SUPERBLOOM_TEST_SECRET']
  }
})
