import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { createLog } from '../core/log.ts'
import { listAudit } from './audit-log.ts'
import { createDoorAudit } from './door-audit.ts'

const act = { kind: 'login', actor: 'alex', outcome: 'ok' } as const

function open({ write }: Pick<Awaited<ReturnType<typeof openTempStore>>, 'write'>) {
  const clock = createFakeClock()
  const logged: string[] = []
  const log = createLog({ level: 'warn', now: clock.now, write: line => logged.push(line) })
  return { clock, logged, audit: createDoorAudit({ store: { write }, clock, log }) }
}

test('an act has its row when it is added; of refusals each name has few of a kind', async () => {
  await using store = await openTempStore()
  const { audit, clock } = open(store)
  await audit.add(act)
  expect(await listAudit(store.db, { limit: 9 })).toMatchObject([{ actor: 'alex', outcome: 'ok' }])
  const flood = (entry: Parameters<typeof audit.refuse>[0]) => {
    for (let count = 0; count < 500; count++) audit.refuse(entry)
  }
  flood({ kind: 'chat', actor: 'gus' })
  audit.refuse({ kind: 'stop', actor: 'gus' })
  audit.refuse({ kind: 'chat', actor: 'anna' })
  clock.advance(3 * 60_000)
  flood({ kind: 'chat', actor: 'gus' })
  await store.write(async () => undefined)
  const rows = await listAudit(store.db, { limit: 1000 })
  expect(rows.filter(({ outcome }) => outcome === 'refused')).toHaveLength(50 + 2 + 3)
})

test('what cannot be stored: an act fails, and a refusal is in the log', async () => {
  const { audit, logged } = open({ write: () => Promise.reject(new Error('the disk is full')) })
  await expect(audit.add(act)).rejects.toThrow('the disk is full')
  audit.refuse({ kind: 'chat', actor: 'gus' })
  await expect.poll(() => logged).toEqual([expect.stringContaining('refusal_not_recorded')])
})
