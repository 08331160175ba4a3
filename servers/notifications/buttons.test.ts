import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BUTTONS, toButtonKey } from '../../schemas/message-buttons.ts'
import { until } from '../../tests/support/until.ts'
import { status } from '../kit/testing/faulty-upstream.ts'
import { firstOf, startPhone } from './testing/phone.ts'

const KEY = toButtonKey('a-key-of-32-random-characters-00')
const URL = `https://hub.example/a/${KEY}`
const buttons = ['Approve', 'Deny'].map(label => ({ label, url: URL, body: `{"decision":"${label}"}` }))
const request = { meta: { [BUTTONS]: buttons } }

/** Returns every byte that the outbox has on the disk. */
function readOutbox(folder: string): string {
  const files = readdirSync(folder).map(file => readFileSync(join(folder, file), 'latin1'))
  return files.join('')
}

test('ntfy gets the buttons, and once it has them nothing here holds their key', async () => {
  await using phone = await startPhone()
  const sent = await phone.send({ message: 'May it?' }, request)
  const [got] = phone.got()
  const actions = buttons.map(button => ({ action: 'http', method: 'POST', clear: true, ...button }))
  expect(got).toMatchObject({ message: 'May it?', actions })
  expect(firstOf(sent.data)).toMatchObject({ status: 'sent', notes: ['with 2 buttons'] })
  const history = await phone.world.call('get_notification_history')
  expect(JSON.stringify([sent, history, phone.world.world.logged])).not.toContain(KEY)
  expect(readOutbox(phone.world.folder)).not.toContain(KEY)
})

test('an upstream that quotes the buttons in its refusal tells nobody the key', async () => {
  await using phone = await startPhone()
  phone.upstream.will(status(400, { error: `the action ${URL} is wrong` }))
  const failed = await phone.send({ message: 'May it?' }, request)
  expect(failed.isError).toBe(true)
  expect(failed.text).toContain('https://hub.example/a/***')
  const history = await phone.world.call('get_notification_history')
  expect(JSON.stringify([failed, history, phone.world.world.logged])).not.toContain(KEY)
  expect(readOutbox(phone.world.folder)).not.toContain(KEY)
})

test('buttons are kept while the message waits, also over a restart', async () => {
  await using phone = await startPhone({ limit: { count: 1, per: '10m' } })
  await phone.send({ message: 'first' })
  const held = await phone.send({ message: 'May it?' }, request)
  expect(firstOf(held.data)).toMatchObject({ status: 'held' })
  expect(JSON.stringify(await phone.world.call('get_notification_history'))).not.toContain(KEY)
  await phone.world.restart()
  await until('its timer is set', () => phone.clock.pending === 1)
  await phone.clock.advance(600_000)
  await until('it went out', () => phone.got().length === 2)
  expect(phone.got().at(-1)).toMatchObject({ actions: [{ url: URL }, { url: URL }] })
})

test('a list of several messages has no buttons', async () => {
  await using phone = await startPhone({ limit: { count: 1, per: '10m' } })
  for (const message of ['first', 'second', 'third']) await phone.send({ message }, request)
  await phone.clock.advance(600_000)
  const sent = { status: 'sent' }
  const count = async () => (await phone.world.call('get_notification_history', sent)).data['total']
  await until('the list went out', async () => (await count()) === 3)
  expect(phone.got()[1]).not.toHaveProperty('actions')
  expect(readOutbox(phone.world.folder)).not.toContain(KEY)
})

test('what is no list of buttons is left out, and arguments make none', async () => {
  await using phone = await startPhone()
  await phone.send({ message: 'x' }, { meta: { [BUTTONS]: [{ label: 'Go', url: 'javascript:1' }] } })
  expect((await phone.send({ message: 'x', [BUTTONS]: buttons })).isError).toBe(true)
  expect(phone.got()).toHaveLength(1)
  expect(phone.got()[0]).not.toHaveProperty('actions')
})
