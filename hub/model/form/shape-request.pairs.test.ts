import { describe, expect, it } from 'vitest'
import type { ModelMessage } from '../../core/model.ts'
import { pairResults } from './shape-request.ts'
import { assistant, result, sketch, user } from './testing/messages.ts'

const pair = (messages: readonly ModelMessage[]) => sketch(pairResults(messages, id => id))

describe('pairResults', () => {
  it.each([
    [
      'results come in the order of the calls',
      [assistant('', ['a', 'b']), result('b'), result('a')],
      ['assistant:  +a +b', 'tool a: of a', 'tool b: of b'],
    ],
    [
      'a result stands right after its call, whatever came between',
      [assistant('', ['a']), user('update'), result('a')],
      ['assistant:  +a', 'tool a: of a', 'user: update'],
    ],
    [
      'a call without a result gets one that says so',
      [assistant('', ['a', 'b']), result('b'), user('next')],
      ['assistant:  +a +b', 'tool a: No result was recorded for this call.', 'tool b: of b', 'user: next'],
    ],
    [
      'a result without a call is told, quoted',
      [result('a', 'one\ntwo'), user('next')],
      ['user: A result of get_time, whose call is no longer shown:\n> one\n> two', 'user: next'],
    ],
    [
      'a second result of a call is told',
      [assistant('', ['a']), result('a'), result('a', 'again')],
      ['assistant:  +a', 'tool a: of a', 'user: A result of get_time, whose call is no longer shown: again'],
    ],
    [
      'an id that comes again belongs to its newest call',
      [assistant('', ['a']), assistant('', ['a']), result('a')],
      ['assistant:  +a', 'tool a: No result was recorded for this call.', 'assistant:  +a', 'tool a: of a'],
    ],
    [
      'two calls with one id get a result each',
      [assistant('', ['a', 'a']), result('a', 'one'), result('a', 'two')],
      ['assistant:  +a +a', 'tool a: one', 'tool a: two'],
    ],
  ])('%s', (_, messages, expected) => {
    expect(pair(messages)).toEqual(expected)
  })

  it('names calls and results alike, and the result by the tool that was called', () => {
    const history = [assistant('', ['a']), { ...result('a'), name: 'found_tool' }]
    expect(pairResults(history, id => `${id}1`)).toEqual([
      { role: 'assistant', text: '', calls: [{ id: 'a1', name: 'get_time', arguments: '{}' }] },
      { role: 'tool', callId: 'a1', name: 'get_time', text: 'of a', isError: false },
    ])
  })

  it('leaves what fits as it is', () => {
    const history = [user('hi'), assistant('', ['a']), result('a'), assistant('bye')]
    expect(pairResults(history, id => id)).toEqual(history)
  })
})
