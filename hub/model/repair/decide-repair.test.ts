import { describe, expect, it } from 'vitest'
import type { ModelMessage, ModelRefusal } from '../../core/model.ts'
import type { ShapedRequest } from '../form/form.ts'
import { decideRepair, findSuspects, type Guess, splitSuspects } from './decide-repair.ts'
import type { Repair } from './repairs.ts'

const thought: ModelMessage = {
  role: 'assistant',
  text: 'hi',
  calls: [],
  thinking: { by: 'compatible/m', text: 'hm' },
}

function request(tools: string[], messages: ModelMessage[] = []): ShapedRequest {
  return {
    system: '',
    messages,
    tools: tools.map(name => ({ name, description: '', inputSchema: {} })),
    names: new Map([['games_stop', 'games.stop']]),
    maxOutput: 1,
  }
}

const TOOLS = ['get_time', 'games_stop', 'search', 'list_all']

function decide(
  refusal: Partial<ModelRefusal>,
  { tools = TOOLS, messages = [] as ModelMessage[], repairs = [] as Repair[], guesses = [] as Guess[] } = {},
) {
  return decideRepair({
    refusal: { status: 400, ...refusal },
    repairs,
    request: request(tools, messages),
    guesses,
    optional: ['stream_options'],
  })?.repairs
}

const parameter = (name: string): Repair => ({ kind: 'parameter', name })
const blamed = (...names: string[]): Repair => ({ kind: 'tools', names, isBlamed: true })
const suspects = (...names: string[]): Repair => ({ kind: 'tools', names, isBlamed: false })

describe('a refusal that names what it is about', () => {
  it.each<[what: string, refusal: Partial<ModelRefusal>, expected: Repair | undefined]>([
    ['a parameter', { param: 'temperature', code: 'unsupported_value' }, parameter('temperature')],
    ['one below another', { param: 'reasoning.effort' }, parameter('reasoning.effort')],
    ['one of a list', { param: 'include[0]' }, parameter('include')],
    ['an unknown limit', { param: 'max_tokens', code: 'unsupported_parameter' }, parameter('max_tokens')],
    ['a tool by its place', { param: 'tools[3].function.parameters' }, blamed('list_all')],
    ['one of Google', { param: 'tools[0].function_declarations[2].parameters' }, blamed('search')],
    ['a tool by its place in words', { said: 'tools.0.custom.input_schema: is invalid' }, blamed('get_time')],
    ['a tool by its name', { said: "Invalid schema for function 'search': no" }, blamed('search')],
    ['a tool by the name that was sent', { said: 'cannot parse games_stop' }, blamed('games.stop')],
  ])('%s', (_, refusal, expected) => {
    expect(decide(refusal)).toEqual([expected])
  })

  it('takes no common word for a name', () => {
    expect(decide({ param: 'tools', said: 'the search failed' })).toEqual([
      suspects('get_time', 'games.stop'),
    ])
  })

  it('does not leave out what is left out already', () => {
    const repairs = [parameter('temperature')]
    expect(decide({ param: 'temperature' }, { repairs })).toBeUndefined()
  })

  it('takes no limit that is too large for one that is not known', () => {
    expect(decide({ param: 'max_tokens', code: 'invalid_value' })).toBeUndefined()
  })
})

describe('a refusal that names nothing', () => {
  /** Returns all guesses in their order, where none of them helps. */
  function guessAll(refusal: Partial<ModelRefusal>, messages: ModelMessage[], tools = TOOLS) {
    const guesses: Guess[] = []
    for (;;) {
      const next = decideRepair({
        refusal: { status: 400, ...refusal },
        repairs: [],
        request: request(tools, messages),
        guesses,
        optional: ['stream_options'],
      })
      if (!next?.guess) return guesses
      guesses.push(next.guess)
    }
  }

  it('is mended by the smallest change first', () => {
    expect(guessAll({}, [thought])).toEqual(['parameter', 'thinking', 'first half', 'second half', 'flat'])
    expect(guessAll({}, [], [])).toEqual(['parameter'])
  })

  it('is only of tools, or only of the history, where it says that', () => {
    expect(guessAll({ param: 'tools' }, [thought])).toEqual(['first half', 'second half', 'flat'])
    expect(guessAll({ code: 'invalid_function_parameters' }, [])).toEqual([
      'first half',
      'second half',
      'flat',
    ])
    expect(guessAll({ param: 'messages[2].content' }, [thought])).toEqual(['thinking', 'flat'])
    expect(guessAll({ param: 'messages' }, [], [])).toEqual([])
  })

  it('is halved with the names of the hub', () => {
    expect(decide({ param: 'tools' }, { guesses: ['first half'] })).toEqual([suspects('search', 'list_all')])
  })
})

describe('suspects', () => {
  it('are those of the tools that are offered', () => {
    const repairs = [blamed('a'), suspects('b', 'c'), suspects('d')]
    expect(findSuspects(repairs, ['d'])).toBe(repairs[2])
    expect(findSuspects(repairs, ['a'])).toBeUndefined()
  })

  it('are halved until one is left, which is the one', () => {
    const group = suspects('a', 'b', 'c')
    expect(splitSuspects([parameter('x'), group], group)).toEqual([
      parameter('x'),
      suspects('a', 'b'),
      suspects('c'),
    ])
    const one = suspects('c')
    expect(splitSuspects([{ kind: 'flat' }, one], one)).toEqual([blamed('c')])
  })
})
