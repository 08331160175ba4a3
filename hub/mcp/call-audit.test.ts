import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { listAudit, verifyAudit } from '../store/audit-log.ts'
import { createDoorAudit } from '../store/door-audit.ts'
import type { Store } from '../store/open.ts'
import { CallAudit } from './call-audit.ts'

const by = { id: 'owner', name: 'alex', role: 'owner' } as const
const removal = { by, tool: 'restart', args: { name: 'plex' }, toolClass: 'destroy', resumes: false } as const
const change = { ...removal, tool: 'set', toolClass: 'change' } as const
const read = { ...removal, tool: 'look', toolClass: 'look' } as const

async function open() {
  const store = await openTempStore()
  const clock = createFakeClock()
  const logged: string[] = []
  const log = createLog({ level: 'error', now: clock.now, write: line => logged.push(line) })
  const failing = { isOn: false }
  const write: Store['write'] = (job, durability) =>
    failing.isOn ? Promise.reject(new Error('the disk is full')) : store.write(job, durability)
  const given = {
    store: { ...store, write },
    clock,
    newId: createIds(clock.now),
    redact: (text: string) => text,
    log,
  }
  const audit = new CallAudit({ ...given, refuse: createDoorAudit(given).refuse })
  const outcomes = async () =>
    (await listAudit(store.db, { after: 0, limit: 2000 })).map(({ tool, outcome }) => `${tool} ${outcome}`)
  return {
    store,
    clock,
    audit,
    failing,
    logged,
    outcomes,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test('a call that destroys or sends is there before it goes out; the rest is gathered', async () => {
  await using world = await open()
  const { audit, clock, outcomes } = world
  const end = await audit.begin(removal)
  expect(await outcomes()).toEqual(['restart started'])
  end('ok')
  ;(await audit.begin(read))('error')
  ;(await audit.begin(change))('ok')
  await audit.begin({ ...change, tool: 'mail', toolClass: 'send' })
  expect(await outcomes()).toEqual(['restart started', 'restart ok', 'look error', 'set ok', 'mail started'])
  ;(await audit.begin(change))('cut')
  expect(await outcomes()).toHaveLength(5)
  clock.advance(250)
  await audit[Symbol.asyncDispose]()
  expect(await outcomes()).toHaveLength(6)
})

test('a refused call has one row, and a token that tries again and again has few', async () => {
  await using world = await open()
  const { audit, clock, store } = world
  audit.refuse(change)
  audit.refuse({ ...change, tool: 'sk-a-secret', toolClass: undefined })
  for (let count = 0; count < 1000; count++) audit.refuse(change)
  audit.refuse({ ...change, by: { ...by, name: 'other' } })
  clock.advance(2 * 60_000)
  for (let count = 0; count < 1000; count++) audit.refuse(change)
  await store.write(async () => undefined)
  const rows = await listAudit(store.db, { after: 0, limit: 2000 })
  expect(rows).toHaveLength(50 + 1 + 2)
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['refused']))
  expect(rows[1]).toMatchObject({ tool: 'unknown', details_json: expect.stringMatching(/toolHash/) })
  expect(JSON.stringify(rows)).not.toContain('sk-a-secret')
})

test('many calls at once have a row each, and what waits is written at the end', async () => {
  await using world = await open()
  const ends = await Promise.all(Array.from({ length: 500 }, () => world.audit.begin(removal)))
  for (const end of ends) end('ok')
  await world.audit[Symbol.asyncDispose]()
  const outcomes = await world.outcomes()
  expect([outcomes.length, outcomes.filter(one => one === 'restart ok').length]).toEqual([1000, 500])
  expect((await verifyAudit(world.store.db)).broken).toBeUndefined()
})

test('a call whose row cannot be stored is refused, and rows of ends wait until they can be', async () => {
  await using world = await open()
  const { audit, failing, logged, outcomes } = world
  const end = await audit.begin(removal)
  failing.isOn = true
  end('ok')
  await expect(audit.begin(removal)).rejects.toThrow('the disk is full')
  expect(logged).toEqual([expect.stringContaining('audit_not_written')])
  failing.isOn = false
  await audit[Symbol.asyncDispose]()
  expect(await outcomes()).toEqual(['restart started', 'restart ok'])
})
