import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { createSignals } from '../core/signals.ts'
import { watchServers } from './watch-servers.ts'

const MINUTE = 60_000

test('promise 11: a server that stays down is said once, and its return once', async () => {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await openTempStore())
  const clock = createFakeClock()
  const signals = createSignals(error => expect.unreachable(String(error)))
  const logged: string[] = []
  const log = createLog({
    level: 'info',
    now: clock.now,
    write: line => logged.push(JSON.parse(line).event),
  })
  const told: string[] = []
  const settled = Promise.withResolvers<void>()
  signals.on('message', ({ conversation, kind, text }) => {
    if (told.push(`${conversation} ${kind}: ${text}`) === 2) settled.resolve()
  })
  let state = 'ready'
  const agents = {
    all: [
      { name: 'other', conversations: ['x'] },
      { name: 'homelab', conversations: ['desk'] },
    ],
  }
  const deps = { store, clock, signals, log, newId: createIds(clock.now), agents: agents as never }
  const watch = watchServers(deps, () => [{ name: 'games', state, error: 'exited with 1' }], stack)
  const become = (next: string) => {
    state = next
    signals.emit('servers', { tools: false, resources: false, prompts: false })
  }
  become('ready')
  expect(await watch.nextDue()).toBeUndefined()
  become('down')
  const due = clock.now() + 10 * MINUTE
  clock.advance(5 * MINUTE)
  // A failed retry does not restart the time.
  become('starting')
  become('down')
  expect(await watch.nextDue()).toBe(due)
  clock.advance(5 * MINUTE)
  await watch.fire()
  await watch.fire()
  expect(told).toEqual([
    expect.stringMatching(/^desk notice: The server games has been down for 10 min: exited/),
  ])
  expect([...watch.down.keys()]).toEqual(['games'])
  expect(await watch.nextDue()).toBeUndefined()
  become('ready')
  await settled.promise
  expect(told[1]).toBe('desk notice: The server games is there again.')
  expect(logged).toEqual(['server_stays_down', 'server_back'])
  expect(watch.down.size).toBe(0)
  // No notice is sent about a server that was switched off: neither that it stays down, nor that it is back.
  become('down')
  become('disabled')
  expect(await watch.nextDue()).toBeUndefined()
  become('down')
  clock.advance(10 * MINUTE)
  await watch.fire()
  become('disabled')
  expect(watch.down.size).toBe(0)
  become('ready')
  expect(logged.slice(2)).toEqual(['server_stays_down'])
})
