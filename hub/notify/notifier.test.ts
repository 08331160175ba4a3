import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NotifySettings } from '../../schemas/notify.ts'
import { createFakeClock, type FakeClock } from '../../tests/support/fake-clock.ts'
import { openTempStore, type TempStore } from '../../tests/support/temp-store.ts'
import { createRecord, until } from '../../tests/support/until.ts'
import { createLog } from '../core/log.ts'
import { createSignals, type Signals } from '../core/signals.ts'
import { createApproval, decideOpen, toApproval } from '../store/approvals.ts'
import { appendMessage, type NewMessage } from '../store/conversations.ts'
import { firstNotification, postponeNotification } from '../store/notifications.ts'
import { createNotifier, type Notifier, type NotifierDeps } from './notifier.ts'

type Sent = Parameters<NotifierDeps['channel']['send']>

let store: TempStore
let clock: FakeClock
let signals: Signals
let notifier: Notifier
let notify: NotifySettings | undefined
let sent: ReturnType<typeof createRecord<Sent>>
let logged: ReturnType<typeof createRecord<Record<string, unknown>>>
let refuse: Error | undefined
let during: (() => Promise<void>) | undefined
let looked: string | undefined
let keys = 0

beforeEach(async () => {
  store = await openTempStore()
  clock = createFakeClock()
  sent = createRecord<Sent>()
  logged = createRecord<Record<string, unknown>>()
  refuse = undefined
  looked = undefined
  notify = { channel: 'phone', about: ['approvals', 'reminders', 'failures'], private: true }
  const log = createLog({ level: 'debug', now: clock.now, write: line => logged.add(JSON.parse(line)) })
  signals = createSignals(error => log.error('listener_failed', { error }))
  notifier = createNotifier({
    store,
    clock,
    log,
    signals,
    channel: {
      async send(...given) {
        sent.add(given)
        await during?.()
        during = undefined
        if (refuse) throw refuse
        return 'Sent on phone (ntfy).'
      },
    },
    isLookedAt: conversation => conversation === looked,
    buttons: { makeKey: async () => `sba_key-number-${++keys}` },
    settings: () => notify && { ...notify, publicUrl: 'https://hub.example', timezone: 'UTC' },
  })
})
afterEach(async () => {
  await notifier[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

const CALL = { thread_id: 't', cycle_id: 'c', agent: 'homelab', tool: 'stop', arguments_hash: '' }
/** Opens an approval with its notification, as the runtime does. */
async function open(id: string, more: Record<string, unknown> = {}) {
  const row = await store.write(tx =>
    createApproval(tx, {
      id,
      call_id: id,
      ...CALL,
      arguments: '{"server":"atm-10"}',
      reason: 'it stops `things`\nnow',
      status: 'open',
      created_at: clock.now(),
      expires_at: clock.now() + 86_400_000,
      ...more,
    }),
  )
  signals.emit('approval', toApproval(row))
}

const states = async () =>
  (await store.db.selectFrom('notifications').selectAll().orderBy('id').execute()).map(row => [
    row.id,
    row.state,
    row.attempts,
  ])
const untilStates = (...wanted: unknown[]) =>
  until('the states are right', async () => JSON.stringify(await states()) === JSON.stringify(wanted))

test('what came before the start goes out at it, once, and nothing wakes the hub afterwards', async () => {
  await open('apr_1')
  expect(sent.all).toEqual([])
  notifier.begin()
  await untilStates(['apr_1', 'sent', 1])
  const [message, options] = sent.all[0] ?? []
  expect(message).toMatchObject({ channel: 'phone', key: 'apr_1', title: 'homelab asks for stop' })
  expect(message?.message.split('\n\n')).toEqual([
    'homelab wants to call `stop` with `{"server":"atm-10"}`',
    'Why a person decides: `it stops \\u0060things\\u0060 now`',
    'It expires on Sun 2026-11-22 22:00 (UTC).',
    'https://hub.example/',
  ])
  expect(options?.idempotencyKey).toBe('notify:apr_1')
  expect(options?.buttons.map(({ label, body }) => [label, body])).toEqual([
    ['Approve', '{"decision":"approve"}'],
    ['Deny', '{"decision":"deny"}'],
  ])
  expect(clock.timers).toBe(0)
})

test('what is not taken is tried again under the same key, later each time, and given up at last', async () => {
  refuse = new Error('the server is down: it got https://hub.example/a/sba_key-number-1')
  notifier.begin()
  await open('apr_1')
  for (let tries = 1; tries < 20; tries++) {
    await untilStates(['apr_1', 'due', tries])
    await until('the next try is set', () => clock.timers === 1)
    clock.advance(10 * 60_000)
  }
  await untilStates(['apr_1', 'failed', 20])
  expect(sent.all).toHaveLength(20)
  expect(new Set(sent.all.map(([, { idempotencyKey }]) => idempotencyKey)).size).toBe(1)
  expect(clock.timers).toBe(0)
  const last = logged.all.findLast(({ event }) => event === 'notification_not_sent')
  expect(last).toMatchObject({ level: 'warn', attempts: 20, again: false })
  expect(JSON.stringify(logged.all)).not.toContain('sba_key')
})

test.each([
  ['decided', () => store.write(tx => decideOpen(tx, 'apr_1', DENIED))],
  ['over', () => clock.jump(86_400_000)],
  [
    'no longer to be told',
    () => {
      notify = { channel: 'phone', about: ['failures'], private: true }
    },
  ],
])('an approval that is %s before its message goes out is not told', async (_what, meanwhile) => {
  await open('apr_1')
  await meanwhile()
  notifier.begin()
  await untilStates(['apr_1', 'over', 0])
  expect(sent.all).toEqual([])
})

/** Decides an approval as the runtime does. */
async function deny(id: string) {
  const row = await store.write(tx => decideOpen(tx, id, DENIED))
  if (row) signals.emit('approval', toApproval(row))
}
/** Resolves when nothing is due. */
const untilNoneDue = () => until('nothing is due', async () => !(await firstNotification(store.db)))

test('a browser is told what became of an approval, in the place of what asked for it, also while its page is open', async () => {
  notify = { channel: 'page', about: ['approvals'], private: true }
  notifier.begin()
  await open('apr_1', { conversation_id: 'homelab' })
  await untilStates(['apr_1', 'sent', 1])
  looked = 'homelab'
  await deny('apr_1')
  await until('it is told', () => sent.all.length === 2)
  await untilNoneDue()
  const [[first, asked], [second, told]] = sent.all as [Sent, Sent]
  expect([first.message.includes('It expires on'), asked.isUpdate, asked.buttons[0]?.url]).toEqual([
    true,
    false,
    expect.stringMatching(/^a\/sba_key/),
  ])
  expect(second).toEqual({ ...first, message: 'It is denied by owner.' })
  expect([told.isUpdate, told.buttons]).toEqual([true, []])
  await untilStates(['apr_1', 'sent', 1])
})

test.each([
  ['sent', undefined, 'sent'],
  ['tried, and may still wait there', new Error('it is down'), 'due'],
])('the notifications server is told what became of an approval that was %s', async (_what, error, state) => {
  refuse = error
  notifier.begin()
  await open('apr_1')
  await untilStates(['apr_1', state, 1])
  refuse = undefined
  await deny('apr_1')
  await until('its time is known', () => state === 'sent' || clock.timers === 1)
  clock.advance(10 * 60_000)
  await until('it is told', () => sent.all.length === 2)
  await untilNoneDue()
  expect(sent.all[1]).toEqual([
    { channel: 'phone', key: 'apr_1', title: 'homelab asks for stop', message: 'It is denied by owner.' },
    expect.objectContaining({ idempotencyKey: 'notify:apr_1:over', isUpdate: true, buttons: [] }),
  ])
})

test('an approval that is decided while it is told is followed by what became of it', async () => {
  notifier.begin()
  during = () => deny('apr_1')
  await open('apr_1')
  await until('it is told', () => sent.all.length === 2)
  await untilNoneDue()
  expect(sent.all.map(([, { isUpdate }]) => isUpdate)).toEqual([false, true])
})

test('promise 15: after a crash in the middle of a try, the notifications server is told what became of it', async () => {
  await open('apr_1')
  await store.write(tx => postponeNotification(tx, 'apr_1', { attempts: 1, due_at: 0 }))
  await deny('apr_1')
  notifier.begin()
  await untilNoneDue()
  expect(sent.all.map(([, { isUpdate }]) => isUpdate)).toEqual([true])
})

test('browsers that may not have been told of an approval are not told what became of it', async () => {
  notify = { channel: 'page', about: ['approvals'], private: true }
  refuse = new Error('no browser takes notifications')
  notifier.begin()
  await open('apr_1')
  await untilStates(['apr_1', 'due', 1])
  await deny('apr_1')
  await until('its time is known', () => clock.timers === 1)
  clock.advance(10 * 60_000)
  await untilStates(['apr_1', 'over', 1])
  expect(sent.all).toHaveLength(1)
})

const DENIED = { status: 'denied', at: 1, by: 'owner', where: '/ws', note: null } as const

test.each([
  ['a secret', { server: 'atm-10', password: 'hunter2' }, 'hunter2'],
  ['more than fits', { text: `${'ä'.repeat(1_200)} and then`, delete: 'everything' }, 'everything'],
])('a call with %s has no buttons, since its message does not show all', async (_what, args, hidden) => {
  notifier.begin()
  await open('apr_1', { arguments: JSON.stringify(args), reason: 'ä'.repeat(5_000) })
  await untilStates(['apr_1', 'sent', 1])
  const [message, options] = sent.all[0] ?? []
  expect(message?.message).toContain('This is not all of it: the page shows the rest.')
  expect(message?.message).not.toContain(hidden)
  // ntfy cuts at 4,096.
  expect(Buffer.byteLength(message?.message ?? '')).toBeLessThan(4_000)
  expect(options?.buttons).toEqual([])
})

test('a call without arguments is whole', async () => {
  notifier.begin()
  await open('apr_1', { arguments: '' })
  await until('it has its buttons', () => sent.all[0]?.[1].buttons.length === 2)
})

test('a question of a server has a link, its words as text, and no buttons', async () => {
  notifier.begin()
  await open('apr_1', {
    question_json: '{}',
    conversation_id: 'homelab/side',
    reason: 'The server stop asks:\n> [Log in](https://evil.example)',
  })
  await untilStates(['apr_1', 'sent', 1])
  const [message, options] = sent.all[0] ?? []
  expect(message?.title).toBe('A question of stop')
  expect(message?.message.split('\n\n')).toEqual([
    'The server of `stop` asks during a call of homelab: `The server stop asks: > [Log in](https://evil.example)`',
    'It expires on Sun 2026-11-22 22:00 (UTC).',
    'https://hub.example/#c=homelab%2Fside',
  ])
  expect(options?.buttons).toEqual([])
})

/** Writes a message of which people are notified. */
async function say(more: Partial<NewMessage> = {}) {
  const at = clock.now()
  const message = { id: `msg_${at}`, conversation: 'homelab', kind: 'agent', author: 'homelab', at } as const
  signals.emit(
    'message',
    await store.write(tx =>
      appendMessage(tx, { ...message, text: 'The **disk** is full.', tells: 'reminders', ...more }),
    ),
  )
}

test('what an agent says without being asked is told with a link; what is no news is not', async () => {
  await say()
  clock.advance(61 * 60_000)
  await say({ conversation: 'homelab/night', text: `${'x'.repeat(700)}\u202e` })
  notifier.begin()
  await untilStates(['homelab#1', 'over', 0], ['homelab/night#1', 'sent', 1])
  expect(sent.all.map(([message]) => message)).toEqual([
    {
      channel: 'phone',
      key: 'homelab/night#1',
      title: 'homelab in homelab/night',
      message: expect.stringMatching(
        /^x{600}… \(\d+ more characters\)\n\nhttps:\/\/hub\.example\/#c=homelab%2Fnight$/,
      ),
    },
  ])
  expect(sent.all[0]?.[1].buttons).toEqual([])
})

test('what a text from outside led to is marked, and makes no link', async () => {
  notifier.begin()
  await say({ text: '[Pay now](https://evil.example)\n# Now', data: { power: 'foreign' } })
  await untilStates(['homelab#1', 'sent', 1])
  expect(sent.all[0]?.[0]).toMatchObject({
    title: 'homelab (led by a text from outside)',
    message: '`[Pay now](https://evil.example) # Now`\n\nhttps://hub.example/#c=homelab',
  })
})

test('only what the config names is told, and nothing of what was deleted', async () => {
  notify = { channel: 'phone', about: ['failures'], private: false }
  notifier.begin()
  await say()
  await say({ id: 'e', kind: 'error', text: 'It failed.', tells: 'failures' })
  await open('apr_1')
  await untilStates(['apr_1', 'over', 0], ['homelab#1', 'over', 0], ['homelab#2', 'sent', 1])
  expect(sent.all.map(([{ message }]) => message)).toEqual(['It failed.\n\nhttps://hub.example/#c=homelab'])
})

test('what the person looks at is not sent; an approval is, once they have left it unanswered', async () => {
  looked = 'homelab'
  notifier.begin()
  await say()
  await open('apr_1', { conversation_id: 'homelab' })
  await untilStates(['apr_1', 'due', 0], ['homelab#1', 'over', 0])
  clock.advance(60_000)
  await until('it is looked at again', () => clock.timers > 0)
  expect(sent.all).toEqual([])
  looked = undefined
  clock.advance(60_000)
  await untilStates(['apr_1', 'sent', 1], ['homelab#1', 'over', 0])
})
