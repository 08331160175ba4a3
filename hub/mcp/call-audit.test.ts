import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { listAudit, verifyAudit } from '../store/audit-log.ts'
import type { Store } from '../store/open.ts'
import { CallAudit } from './call-audit.ts'

const by = { id: 'owner', name: 'alex', role: 'owner' } as const
const change = { by, tool: 'restart', args: { name: 'plex' }, reads: false, resumes: false }
const read = { ...change, tool: 'look', reads: true }

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
  const audit = new CallAudit(given)
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

test('a call that may change something is there before it goes out; the rest is gathered', async () => {
  await using world = await open()
  const { audit, clock, outcomes } = world
  const end = await audit.begin(change)
  expect(await outcomes()).toEqual(['restart started'])
  end('ok')
  ;(await audit.begin(read))('error')
  expect(await outcomes()).toEqual(['restart started'])
  clock.advance(250)
  await audit[Symbol.asyncDispose]()
  expect(await outcomes()).toEqual(['restart started', 'restart ok', 'look error'])
})

test('many calls at once have a row each, and what waits is written at the end', async () => {
  await using world = await open()
  const ends = await Promise.all(Array.from({ length: 500 }, () => world.audit.begin(change)))
  for (const end of ends) end('ok')
  await world.audit[Symbol.asyncDispose]()
  const outcomes = await world.outcomes()
  expect([outcomes.length, outcomes.filter(one => one === 'restart ok').length]).toEqual([1000, 500])
  expect((await verifyAudit(world.store.db)).broken).toBeUndefined()
})

test('a call whose row cannot be stored is refused, and rows of ends wait until they can be', async () => {
  await using world = await open()
  const { audit, failing, logged, outcomes } = world
  const end = await audit.begin(change)
  failing.isOn = true
  end('ok')
  await expect(audit.begin(change)).rejects.toThrow('the disk is full')
  expect(logged).toEqual([expect.stringContaining('audit_not_written')])
  failing.isOn = false
  await audit[Symbol.asyncDispose]()
  expect(await outcomes()).toEqual(['restart started', 'restart ok'])
})
