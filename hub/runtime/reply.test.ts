import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import type { InboxItem } from '../store/inbox.ts'
import { decideReplyTo } from './reply.ts'

const item = (payload: InboxPayload, conversation: string | null = null): InboxItem => ({
  seq: 1,
  payload,
  power: 'person',
  conversation,
  at: 0,
})
const message = (conversation: string, text = 'hi') =>
  item({ kind: 'message', conversation, messageId: `msg_${text}`, author: 'alex', text }, conversation)
const wake = (conversation: string | null) =>
  item({ kind: 'wake', schedule: 'sch_1', reason: 'x', dueAt: 0 }, conversation)
const event = item({ kind: 'event', event: { id: 'e', type: 't', source: 's', payload: {}, at: 0 } })
const notice = item({ kind: 'notice', text: 'x' })

const cases: [string, InboxItem[], string | null][] = [
  ['the newest user message wins', [message('a'), message('b')], 'b'],
  ['a user message wins over what came after it', [message('a'), wake('b'), event], 'a'],
  ['a wake remembers its conversation', [wake('b')], 'b'],
  ['the newest that remembers one', [wake('a'), wake('b'), event], 'b'],
  ['a wake that remembers none goes to the first conversation', [wake(null)], 'first'],
  ['so it does when an event came after it', [wake(null), event], 'first'],
  ['an event alone goes nowhere', [event], null],
  ['a notice alone goes nowhere', [notice, event], null],
  ['nothing goes nowhere', [], null],
]

test.for(cases)('reply: %s', ([, items, expected]) => {
  expect(decideReplyTo(items, 'first')).toBe(expected)
})

test('an agent without conversations answers a wake nowhere', () => {
  expect(decideReplyTo([wake(null)], undefined)).toBeNull()
})
