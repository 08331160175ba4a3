import { expect, it } from 'vitest'
import { isRecall, readFact, readForget } from './facts.ts'

it.each([
  ['remember that the NAS is at 10.0.0.5', { key: 'nas', value: 'at 10.0.0.5' }],
  ['Please remember: backup window = 02:00', { key: 'backup_window', value: '02:00' }],
  ['note: buy a new disk', { key: 'buy_new_disk', value: 'buy a new disk' }],
  ['note that the door code is 1234.', { key: 'door_code', value: '1234' }],
  ["don't forget that my birthday is in May", { key: 'birthday', value: 'in May' }],
  ['remember to check the disks at 8', undefined],
  ['notes', undefined],
  ['how is this machine doing?', undefined],
])('%s → %o', (sentence, expected) => {
  expect(readFact(sentence)).toEqual(expected)
})

it.each([
  ['what do you remember?', true],
  ['What do you know about the NAS?', true],
  ['show me your notes', true],
  ['do you remember the door code?', true],
  ['what is eating my memory?', false],
  ['show processes', false],
])('%s asks for facts: %s', (sentence, expected) => {
  expect(isRecall(sentence)).toBe(expected)
})

it.each([
  ['forget the NAS', 'the NAS'],
  ['please forget what I said about the door code.', 'the door code'],
  ['forget it', undefined],
  ['do not forget the NAS', undefined],
])('%s forgets %s', (sentence, expected) => {
  expect(readForget(sentence)).toBe(expected)
})
