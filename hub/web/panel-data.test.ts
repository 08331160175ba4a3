import { expect, test } from 'vitest'
import { createPanelData } from './panel-data.js'

function setUp() {
  const calls: string[] = []
  const timers: (() => void)[] = []
  const failing = new Set<string>()
  const mcp = {
    async call(name: string, args?: Record<string, unknown>) {
      calls.push(args ? `${name} ${JSON.stringify(args)}` : name)
      if (failing.has(name)) throw new Error(`${name} is down`)
      return { from: name }
    },
  }
  const clock = {
    now: () => 1,
    after(_delay: number, run: () => void) {
      timers.push(run)
      return () => timers.splice(timers.indexOf(run), 1)
    },
  }
  const settled = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  return { panel: createPanelData({ mcp, clock: clock as never }), calls, timers, failing, settled }
}

const READ = ['hub_list_agents', 'hub_list_schedules', 'hub_status']

test('reads when it is opened and, once, after a burst of changes; closed, it reads nothing', async () => {
  const { panel, calls, timers, settled } = setUp()
  panel.touch()
  expect(timers).toEqual([])
  panel.show(true)
  await settled()
  expect(calls).toEqual(READ)
  expect(panel.store.get()).toMatchObject({ agents: { from: 'hub_list_agents' }, errors: {}, loading: false })
  panel.touch()
  panel.touch()
  expect(timers).toHaveLength(1)
  panel.show(false)
  expect(timers).toEqual([])
  expect(calls).toHaveLength(3)
})

test('a source that fails says so and leaves the others alone', async () => {
  const { panel, failing, settled } = setUp()
  failing.add('hub_status')
  panel.show(true)
  await settled()
  expect(panel.store.get()).toMatchObject({
    schedules: { from: 'hub_list_schedules' },
    status: null,
    errors: { status: 'hub_status is down' },
  })
})

test('cancelling reads again', async () => {
  const { panel, calls, settled } = setUp()
  await panel.cancelSchedule('s1')
  await settled()
  expect(calls).toEqual(['hub_cancel_schedule {"id":"s1"}', ...READ])
})
