import { expect, it } from 'vitest'
import { tellCalls } from './tell-calls.ts'
import { assistant, result, sketch, user } from './testing/messages.ts'

it('tells calls and results as text', () => {
  const history = [user('hi'), assistant('so', ['a']), result('a', 'x\ny'), { ...result('b'), isError: true }]
  expect(sketch(tellCalls(history))).toEqual([
    'user: hi',
    'assistant: so\n(I called get_time with {})',
    'user: The result of get_time:\n> x\n> y',
    'user: The error of get_time: of b',
  ])
})
