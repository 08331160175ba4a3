import { describe, expect, it } from 'vitest'
import { providers } from '../providers/index.ts'
import type { HistoryForm } from './form.ts'
import { notifyCalls, shapeHistory } from './shape-request.ts'
import { assistant, png, result, sketch, user } from './testing/messages.ts'

const base = providers.openai.form({ provider: 'openai', baseUrl: 'http://h', model: 'm', vision: true })
const shape = (messages: Parameters<typeof shapeHistory>[0], history: Partial<HistoryForm> = {}) =>
  shapeHistory(messages, { ...base, history: { ...base.history, ...history } })

describe('shapeHistory', () => {
  it('leaves out what says nothing', () => {
    const messages = [
      user('a'),
      assistant(' \n'),
      user('\u200b'),
      user('', [png(1, 1)]),
      assistant('', ['1']),
      result('1', ' '),
    ]
    expect(sketch(shape(messages))).toEqual([
      'user: a',
      'user:  (1 pictures)',
      'assistant:  +1',
      'tool 1: (no output)',
    ])
  })

  it('drops what others thought, and never says it', () => {
    const thinking = { by: 'deepseek/r', text: 'secret' }
    const [, silent, spoken] = shape([
      user('a'),
      assistant('', [], thinking),
      assistant('b', [], thinking),
      user('c'),
    ])
    expect(silent).toEqual({ ...assistant('b'), thinking: undefined })
    expect(spoken).toEqual(user('c'))
  })

  it.each([
    ['{"a":1}', '{"a":1}'],
    ['{"a":', '{"invalid_arguments":"{\\"a\\":"}'],
    ['[1]', '{"invalid_arguments":"[1]"}'],
    ['', '{"invalid_arguments":""}'],
  ])('sends the arguments %s as %s', (given, sent) => {
    const call = { id: '1', name: 'home.get time', arguments: given }
    const [, message, answer] = shape([
      user('a'),
      { role: 'assistant', text: '', calls: [call] },
      result('1'),
    ])
    expect(message).toMatchObject({
      calls: [{ id: '1', name: expect.stringMatching(/^home_get_time_\w{8}$/), arguments: sent }],
    })
    expect(answer).toMatchObject({ name: expect.stringMatching(/^home_get_time_/) })
  })

  it('keeps a blank text beside calls only where parts of the provider go back, which may count it', () => {
    const parts = { by: base.family, text: '', parts: [1] }
    const history = [
      user('a'),
      assistant('\n', ['1'], parts),
      result('1'),
      assistant('\n', ['2']),
      result('2'),
    ]
    expect(shape(history).map(({ text }) => text)).toEqual(['a', '\n', 'of 1', '', 'of 2'])
  })

  it('mends half characters, which providers refuse as bad JSON', () => {
    expect(shape([user('a\ud83d')])).toEqual([user('a\ufffd')])
  })

  it('leaves messages that need no change as they are', () => {
    const messages = [user('a'), assistant('', ['1']), result('1'), user('b')]
    expect(shape(messages)).toEqual(messages)
  })

  it('tells all as text at last', () => {
    const messages = [
      user('a'),
      assistant('', ['1'], { by: base.family, text: 'hm' }),
      result('1'),
      user('b'),
    ]
    expect(sketch(shape(messages, { flat: true, merge: ['user'] }))).toEqual([
      'user: a',
      'assistant: (I called get_time with {})',
      'user: The result of get_time: of 1\n\nb',
    ])
  })
})

it('tells calls and results as text', () => {
  const history = [user('hi'), assistant('so', ['a']), result('a', 'x\ny'), { ...result('b'), isError: true }]
  expect(sketch(notifyCalls(history))).toEqual([
    'user: hi',
    'assistant: so\n(I called get_time with {})',
    'user: The result of get_time:\n> x\n> y',
    'user: The error of get_time: of b',
  ])
})
