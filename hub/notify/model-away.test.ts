import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { createSignals } from '../core/signals.ts'
import { appendMessage } from '../store/conversations.ts'
import { createCycle } from '../store/cycles.ts'
import { firstNotification } from '../store/notifications.ts'
import { resumeCycle, suspendCycle } from '../store/suspended.ts'
import { createNotifier } from './notifier.ts'

test('that the model is away is told once the person has left it, however late, and not after it is back', async () => {
  await using store = await openTempStore()
  const clock = createFakeClock()
  const log = createLog({ level: 'error', now: clock.now, write: line => expect.unreachable(line) })
  const signals = createSignals(error => expect.unreachable(String(error)))
  const sent: string[] = []
  let looked: string | undefined = 'homelab'
  await using notifier = createNotifier({
    store,
    clock,
    log,
    signals,
    channel: {
      async send({ key }) {
        sent.push(key)
        return 'Sent.'
      },
    },
    isLookedAt: conversation => conversation === looked,
    buttons: { makeKey: () => expect.unreachable() },
    settings: () => ({
      channel: 'phone',
      about: ['failures'],
      private: true,
      publicUrl: undefined,
      timezone: 'UTC',
    }),
  })
  for (const cycle of ['cyc_1', 'cyc_2']) {
    const thread = `thr_${cycle}`
    await store.write(async tx => {
      await createCycle(tx, { id: cycle, thread_id: thread, fence: 1, reply_to: 'homelab', started_at: 1 })
      await suspendCycle(tx, { thread, cycle, until: 9, why: { suspendedAt: 1 } })
      await appendMessage(tx, {
        id: `msg_${cycle}`,
        conversation: 'homelab',
        kind: 'error',
        author: 'hub',
        text: 'The model cannot be reached.',
        at: clock.now(),
        cycle,
        data: { parked: true },
        tells: 'failures',
      })
    })
  }
  notifier.begin()
  const later = async (span: number) => {
    await until('it waits for its next look', () => clock.timers > 0)
    clock.advance(span)
  }
  await later(60_000)
  await later(2 * 60 * 60_000)
  expect(sent).toEqual([])
  await store.write(tx => resumeCycle(tx, 'cyc_2'))
  looked = undefined
  await later(60_000)
  await until('nothing is due', async () => (await firstNotification(store.db)) === undefined)
  expect(sent).toEqual(['homelab#1'])
})
