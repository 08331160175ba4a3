import { expect, test } from 'vitest'
import { createPanelData } from './panel-data.ts'

function setUp() {
  const calls: string[] = []
  const timers: (() => void)[] = []
  const failing = new Set<string>()
  const mcp = {
    async call<Result>(name: string, args?: Record<string, unknown>) {
      calls.push(args ? `${name} ${JSON.stringify(args)}` : name)
      if (failing.has(name)) throw new Error(`${name} is down`)
      return { from: name, ...args } as Result
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

const READ = [
  'hub_list_agents',
  'hub_list_schedules',
  'hub_status',
  'hub_list_dead_letters {"status":"open"}',
]

test('reads when it is opened and, once, after a burst of changes; closed, it reads nothing', async () => {
  const { panel, calls, timers, settled } = setUp()
  panel.touch()
  expect(timers).toEqual([])
  panel.show(true)
  await settled()
  expect(calls).toEqual(READ)
  expect(panel.store.get()).toMatchObject({ agents: { from: 'hub_list_agents' }, loading: false })
  panel.touch()
  panel.touch()
  expect(timers).toHaveLength(1)
  panel.show(false)
  expect(timers).toEqual([])
  expect(calls).toHaveLength(READ.length)
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

test('only what the open tab shows is read', async () => {
  const { panel, calls, settled } = setUp()
  panel.choose('events')
  expect(calls).toEqual([])
  panel.show(true)
  await settled()
  panel.choose('threads')
  await settled()
  expect(calls).toEqual(['hub_list_events {"limit":50}', 'hub_list_threads'])
})

test('the audit of the thread that was chosen last is shown', async () => {
  const { panel, calls, settled } = setUp()
  panel.show(true)
  await settled()
  calls.length = 0
  panel.openThread('one')
  panel.openThread('two')
  await settled()
  expect(calls).toEqual(['hub_read_thread {"thread":"one"}', 'hub_read_thread {"thread":"two"}'])
  expect(panel.store.get()).toMatchObject({ thread: 'two', audit: { thread: 'two' } })
  panel.openThread(null)
  await settled()
  expect(calls.at(-1)).toBe('hub_list_threads')
})

test('a search asks with what was chosen, and a failure stands with it alone', async () => {
  const { panel, calls, failing } = setUp()
  await panel.search({ query: 'atm', agent: 'homelab', timeframe: '' })
  expect(calls).toEqual(['hub_search_history {"query":"atm","agent":"homelab"}'])
  expect(panel.store.get().found).toMatchObject({ query: 'atm' })
  failing.add('hub_search_history')
  await panel.search({ query: 'atm', agent: 'homelab', timeframe: '7d' })
  expect(panel.store.get()).toMatchObject({
    errors: { found: 'hub_search_history is down' },
    searching: false,
  })
})

test('of two searches the later one stands', async () => {
  const { panel } = setUp()
  await Promise.all(['atm', 'disks'].map(query => panel.search({ query, agent: '', timeframe: '' })))
  expect(panel.store.get()).toMatchObject({ found: { query: 'disks' }, searching: false })
})

test.each([
  ['retryLetter', 'hub_retry_dead_letter {"id":"x"}'],
  ['discardLetter', 'hub_discard_dead_letter {"id":"x"}'],
  ['stopThread', 'hub_stop {"thread":"x"}'],
  ['retryModel', 'hub_retry_model {}'],
] as const)('%s tells the hub and reads again; a refusal is thrown', async (name, call) => {
  const { panel, calls, failing } = setUp()
  await panel[name]('x')
  expect(calls).toEqual([call, ...READ])
  failing.add(call.split(' ')[0] ?? '')
  await expect(panel[name]('x')).rejects.toThrow('is down')
})
