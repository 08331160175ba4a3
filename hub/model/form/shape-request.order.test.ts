import { describe, expect, it } from 'vitest'
import { providers } from '../providers/index.ts'
import type { HistoryForm } from './form.ts'
import { orderMessages } from './shape-request.ts'
import { assistant, png, result, sketch, user } from './testing/messages.ts'

const { history: free } = providers.openai.form({
  provider: 'openai',
  baseUrl: 'http://h',
  model: 'm',
  vision: true,
})
const order = (messages: Parameters<typeof orderMessages>[0], form: Partial<HistoryForm>) =>
  sketch(orderMessages(messages, { ...free, ...form }))

describe('orderMessages', () => {
  it('changes nothing where the provider wants nothing', () => {
    const messages = [assistant('a'), assistant('', ['1']), result('1'), user('b'), user('c')]
    expect(orderMessages(messages, free)).toEqual(messages)
  })

  it('joins neighbours of one role, pictures too', () => {
    const messages = [
      user('a', [png(1, 1)]),
      user('', [png(2, 2)]),
      user('b'),
      assistant('c'),
      assistant('d', ['1']),
      result('1'),
    ]
    expect(order(messages, { merge: ['user', 'assistant'] })).toEqual([
      'user: a\n\nb (2 pictures)',
      'assistant: c\n\nd +1',
      'tool 1: of 1',
    ])
    expect(order(messages, { merge: ['assistant'] })).toHaveLength(5)
  })

  it('keeps the thoughts of either of two', () => {
    const thinking = { by: 'x/y', text: 'hm' }
    const messages = [assistant('a', [], thinking), assistant('b'), user('c')]
    expect(orderMessages(messages, { ...free, merge: ['assistant'] })[0]).toEqual(
      assistant('a\n\nb', [], thinking),
    )
  })

  it('bridges from results to the user', () => {
    const messages = [user('a'), assistant('', ['1']), result('1'), user('b'), user('c')]
    expect(order(messages, { bridge: true, merge: ['user'] })).toEqual([
      'user: a',
      'assistant:  +1',
      'tool 1: of 1',
      'assistant: I have the results.',
      'user: b\n\nc',
    ])
  })

  it('begins with the user, and ends with what is to be answered', () => {
    expect(order([assistant('a')], { startsWithUser: true })).toEqual([
      'user: (What came before is not shown.)',
      'assistant: a',
      'user: (Go on.)',
    ])
    expect(order([], {})).toEqual(['user: (Go on.)'])
  })
})
