import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'

const AT_NIGHT = call([['schedule_wake', { at: '2030-01-01T23:30', reason: 'look' }]])
const zoneLines = /^It is .*$/m

/** Has a person in a zone ask for a wake at 23:30; the hub is in Berlin. Returns when it comes, and the batch. */
async function ask(timezone: string | undefined) {
  await using world = await openWorld()
  await world.start()
  world.model.script(AT_NIGHT, say('good night'))
  await world.post('look at half past eleven', 'homelab', undefined, timezone)
  await world.idle()
  const [request] = world.model.requests.all
  const text = request?.messages.findLast(({ role }) => role === 'user')?.text ?? ''
  const [row] = await world.store.db.selectFrom('schedules').selectAll().execute()
  world.clock.advance((row?.next_run ?? 0) - world.clock.now())
  await world.router.fireDue()
  await world.idle()
  const woken = world.model.requests.all.at(-1)?.messages.findLast(({ role }) => role === 'user')?.text ?? ''
  return {
    at: new Date(row?.next_run ?? 0).toISOString(),
    zone: row?.timezone,
    asked: zoneLines.exec(text)?.[0],
    woken: zoneLines.exec(woken)?.[0],
    zones: world.model.requests.all.map(each => each.timezone),
  }
}

test('a time is meant in the zone of who wrote it, and so is the time at which it comes', async () => {
  const { at, zone, asked, woken, zones } = await ask('America/New_York')
  expect({ at, zone }).toEqual({ at: '2030-01-02T04:30:00.000Z', zone: 'America/New_York' })
  expect(asked).toMatch(/\(America\/New_York\), .*; the hub's is Europe\/Berlin, so name the zone/)
  expect(woken).toMatch(/^It is Tue 2030-01-01 23:30 \(America\/New_York\)/)
  expect(new Set(zones)).toEqual(new Set(['America/New_York']))
})

test.each([undefined, 'UTC', 'Etc/UTC', 'Mars/Base', 'Europe/Berlin'])(
  'with the zone %s a time is meant in the zone of the hub, which nobody has to be told',
  async timezone => {
    const { at, zone, asked } = await ask(timezone)
    expect({ at, zone }).toEqual({ at: '2030-01-01T22:30:00.000Z', zone: 'Europe/Berlin' })
    expect(asked).toMatch(/^It is .* \(Europe\/Berlin\), \S+ in UTC\.$/)
  },
)
