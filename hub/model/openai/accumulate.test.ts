import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCallAccumulator } from './accumulate.ts'

const makeId = (position: number) => `made_${position}`

function accumulate(chunks: unknown[]) {
  const calls = createCallAccumulator(makeId, name => ['get_time', 'get_load'].includes(name))
  for (const chunk of chunks) calls.push(chunk)
  return calls.finish().map(({ call }) => call)
}

/** Makes a piece as providers send it; undefined fields are left out. */
function piece(id: unknown, index: unknown, name?: unknown, args?: unknown) {
  return JSON.parse(JSON.stringify({ id, index, type: 'function', function: { name, arguments: args } }))
}

const NO = undefined
const a = { id: 'a', name: 'get_time', arguments: '{"zone":"UTC"}' }
const b = { id: 'b', name: 'get_load', arguments: '{"host":"nas"}' }
const made = (call: object, position: number) => ({ ...call, id: `made_${position}` })

const BARE = [
  { id: 'a', name: 'get_time', arguments: '{}' },
  { id: 'made_1', name: 'get_load', arguments: '{}' },
]

const QUIRKS: { quirk: string; chunks: unknown[]; calls: unknown[] }[] = [
  {
    quirk: 'calls without arguments, one id for all, index right',
    chunks: [[piece('a', 0, 'get_time', '')], [piece('a', 1, 'get_load', '')]],
    calls: BARE,
  },
  ...[0, NO].map(index => ({
    quirk: `calls without arguments, ids left out, index always ${index}`,
    chunks: [[piece(NO, index, 'get_time', '')], [piece(NO, index, 'get_load', '')]],
    calls: BARE.map(made),
  })),
  {
    quirk: 'a name in two parts, the second of which is no tool',
    chunks: [[piece('a', 0, 'get_')], [piece(NO, 0, 'time')], [piece(NO, 0, NO, '{}')]],
    calls: BARE.slice(0, 1),
  },
  {
    quirk: 'OpenAI: id and name first, then arguments by index',
    chunks: [
      [piece('a', 0, 'get_time', '')],
      [piece(NO, 0, NO, '{"zone"')],
      [piece(NO, 0, NO, ':"UTC"}')],
      [piece('b', 1, 'get_load', '')],
      [piece(NO, 1, NO, '{"host":"nas"}')],
    ],
    calls: [a, b],
  },
  {
    quirk: 'parallel calls interleaved by index',
    chunks: [
      [piece('a', 0, 'get_time', ''), piece('b', 1, 'get_load', '')],
      [piece(NO, 1, NO, '{"host"'), piece(NO, 0, NO, '{"zone"')],
      [piece(NO, 0, NO, ':"UTC"}')],
      [piece(NO, 1, NO, ':"nas"}')],
    ],
    calls: [a, b],
  },
  {
    quirk: 'parallel calls interleaved by id alone',
    chunks: [
      [piece('a', NO, 'get_time', '{"zone"')],
      [piece('b', NO, 'get_load', '{"host"')],
      [piece('a', NO, NO, ':"UTC"}')],
      [piece('b', NO, NO, ':"nas"}')],
    ],
    calls: [a, b],
  },
  {
    quirk: 'Ollama: whole calls, index always 0',
    chunks: [[piece('a', 0, 'get_time', '{"zone":"UTC"}')], [piece('b', 0, 'get_load', '{"host":"nas"}')]],
    calls: [a, b],
  },
  {
    quirk: 'Ollama: arguments after a reused index go to the newest call of that index',
    chunks: [
      [piece('a', 0, 'get_time', '{"zone":"UTC"}')],
      [piece('b', 0, 'get_load', '')],
      [piece(NO, 0, NO, '{"host":"nas"}')],
    ],
    calls: [a, b],
  },
  {
    quirk: 'older Ollama: whole calls in one chunk without index',
    chunks: [[piece('a', NO, 'get_time', '{"zone":"UTC"}'), piece('b', NO, 'get_load', '{"host":"nas"}')]],
    calls: [a, b],
  },
  {
    quirk: 'vLLM: ids left out, index right',
    chunks: [
      [piece(NO, 0, 'get_time', '{"zone"')],
      [piece(NO, 0, NO, ':"UTC"}')],
      [piece(NO, 1, 'get_load', '{"host":"nas"}')],
    ],
    calls: [made(a, 0), made(b, 1)],
  },
  {
    quirk: 'LiteLLM with Bedrock: the index starts at 1',
    chunks: [[piece('a', 1, 'get_time', '')], [piece(NO, 1, NO, '{"zone":"UTC"}')]],
    calls: [a],
  },
  {
    quirk: 'empty and null ids count as missing',
    chunks: [[piece('', 0, 'get_time', '{"zone":')], [piece(null, 0, null, '"UTC"}')]],
    calls: [made(a, 0)],
  },
  {
    quirk: 'neither id nor index: goes to the current call',
    chunks: [[piece(NO, NO, 'get_time', '')], [piece(NO, NO, NO, '{"zone":')], [piece(NO, NO, NO, '"UTC"}')]],
    calls: [made(a, 0)],
  },
  {
    quirk: 'neither id nor index: another name begins another call',
    chunks: [[piece(NO, NO, 'get_time', '{"zone":"UTC"}')], [piece(NO, NO, 'get_load', '{"host":"nas"}')]],
    calls: [made(a, 0), made(b, 1)],
  },
  {
    quirk: 'neither id nor index: another name begins another call before its arguments come',
    chunks: [
      [piece(NO, NO, 'get_time', '{"zone":"UTC"}')],
      [piece(NO, NO, 'get_load', '')],
      [piece(NO, NO, NO, '{"host":"nas"}')],
    ],
    calls: [made(a, 0), made(b, 1)],
  },
  {
    quirk: 'neither id nor index: the same name with arguments after whole ones begins another call',
    chunks: [[piece(NO, NO, 'get_time', '{"zone":"UTC"}')], [piece(NO, NO, 'get_time', '{"zone":"CET"}')]],
    calls: [made(a, 0), { id: 'made_1', name: 'get_time', arguments: '{"zone":"CET"}' }],
  },
  {
    quirk: 'neither id nor index: two calls without arguments in one chunk',
    chunks: [[piece(NO, NO, 'get_time', ''), piece(NO, NO, 'get_load', '')]],
    calls: [
      { id: 'made_0', name: 'get_time', arguments: '{}' },
      { id: 'made_1', name: 'get_load', arguments: '{}' },
    ],
  },
  {
    quirk: 'index always 0 and no ids: whole calls',
    chunks: [[piece(NO, 0, 'get_time', '{"zone":"UTC"}')], [piece(NO, 0, 'get_load', '{"host":"nas"}')]],
    calls: [made(a, 0), made(b, 1)],
  },
  {
    quirk: 'id and name repeated in every chunk',
    chunks: [
      [piece('a', 0, 'get_time', '{"zo')],
      [piece('a', 0, 'get_time', 'ne":"U')],
      [piece('a', 0, 'get_time', 'TC"}')],
      [piece('a', 0, 'get_time', '')],
    ],
    calls: [a],
  },
  {
    quirk: 'the finished call sent once more',
    chunks: [[piece('a', 0, 'get_time', '{"zone":"UTC"}')], [piece('a', 0, 'get_time', '{"zone":"UTC"}')]],
    calls: [a],
  },
  {
    quirk: 'Poolside: another id in every chunk',
    chunks: [[piece('a', 0, 'get_time', '')], [piece('x', 0, NO, '{"zone":')], [piece('y', 0, NO, '"UTC"}')]],
    calls: [a],
  },
  {
    quirk: 'the id comes after the name',
    chunks: [[piece(NO, 0, 'get_time', '')], [piece('a', 0, NO, '{"zone":"UTC"}')]],
    calls: [a],
  },
  {
    quirk: 'one id for all calls: each still is a call of its own',
    chunks: [
      [piece('a', 0, 'get_time', '{"zone":"UTC"}')],
      [piece('a', 1, 'get_load', '{"host":')],
      [piece('a', 1, NO, '"nas"}')],
    ],
    calls: [a, made(b, 1)],
  },
  {
    quirk: 'a name split over chunks',
    chunks: [[piece('a', 0, 'get_', '')], [piece(NO, 0, 'time', '')], [piece(NO, 0, NO, '{"zone":"UTC"}')]],
    calls: [a],
  },
  {
    quirk: 'arguments as an object',
    chunks: [[piece('a', 0, 'get_time', { zone: 'UTC' })], [piece('b', 0, 'get_load', { host: 'nas' })]],
    calls: [a, b],
  },
  {
    quirk: 'empty, blank and missing arguments',
    chunks: [[piece('a', 0, 'x', '')], [piece('b', 1, 'y', ' \n')], [piece('c', 2, 'z')]],
    calls: [
      { id: 'a', name: 'x', arguments: '{}' },
      { id: 'b', name: 'y', arguments: '{}' },
      { id: 'c', name: 'z', arguments: '{}' },
    ],
  },
  {
    quirk: 'arguments that are no JSON stay as the model wrote them',
    chunks: [[piece('a', 0, 'get_time', '{"zone":')]],
    calls: [{ id: 'a', name: 'get_time', arguments: '{"zone":' }],
  },
  {
    quirk: 'pieces that are none',
    chunks: [null, 'x', [null, 7, {}, { function: null }], [piece('a', 0, 'get_time', '{"zone":"UTC"}')]],
    calls: [a],
  },
]

describe('createCallAccumulator', () => {
  it.each(QUIRKS)('$quirk', ({ chunks, calls }) => {
    expect(accumulate(chunks)).toEqual(calls)
  })

  it('begins with no call', () => {
    expect(accumulate([])).toEqual([])
  })
})

const args = fc
  .dictionary(
    fc.string(),
    fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.constant({ '}': '{' })),
  )
  .map(value => JSON.stringify(value))
const name = fc.stringMatching(/^[a-z_]{1,12}$/)

/** Calls with distinct ids, each with the positions at which its arguments are cut. */
const splitCalls = fc.uniqueArray(
  fc.record({ id: fc.uuid(), name, arguments: args, cuts: fc.array(fc.nat(40), { maxLength: 6 }) }),
  { selector: call => call.id, minLength: 1, maxLength: 5 },
)

function cut(text: string, cuts: number[]): string[] {
  const at = [0, ...cuts.map(each => each % (text.length + 1)).sort((x, y) => x - y), text.length]
  return at.slice(1).map((end, i) => text.slice(at[i], end))
}

/** Returns what a provider adds to a piece of the call at a position; `first` marks the first piece. */
type Style = (call: { id: string; name: string }, position: number, first: boolean) => object
const STYLES: Record<string, { mark: Style; interleaved: boolean; ids: boolean }> = {
  'OpenAI: id and name first, index always': {
    mark: (call, index, first) => (first ? { index, id: call.id, name: call.name } : { index }),
    interleaved: true,
    ids: true,
  },
  'id and name in every piece, no index': {
    mark: call => ({ id: call.id, name: call.name }),
    interleaved: true,
    ids: true,
  },
  'id in every piece, index always 0': {
    mark: (call, _, first) => ({ index: 0, id: call.id, ...(first && { name: call.name }) }),
    interleaved: true,
    ids: true,
  },
  'no ids': {
    mark: (call, index, first) => (first ? { index, name: call.name } : { index }),
    interleaved: true,
    ids: false,
  },
  'no ids, name in every piece': {
    mark: (call, index) => ({ index, name: call.name }),
    interleaved: true,
    ids: false,
  },
  'id first, no index, one call after the other': {
    mark: (call, _, first) => (first ? { id: call.id, name: call.name } : {}),
    interleaved: false,
    ids: true,
  },
  'id first, index always 0, one call after the other': {
    mark: (call, _, first) => (first ? { index: 0, id: call.id, name: call.name } : { index: 0 }),
    interleaved: false,
    ids: true,
  },
}

describe('any split of calls into pieces gives the same calls back', () => {
  it.each(Object.entries(STYLES))('%s', (_, { mark, interleaved, ids }) => {
    fc.assert(
      fc.property(splitCalls, fc.infiniteStream(fc.nat()), fc.nat(3), (calls, picks, perChunk) => {
        const queues = calls.map((call, position) =>
          cut(call.arguments, call.cuts).map((part, i) => {
            const { name: called, ...rest } = { name: undefined, ...mark(call, position, i === 0) }
            return { ...rest, function: { name: called, arguments: part } }
          }),
        )
        const pieces: object[] = []
        // The first pieces keep the order of the calls, which is the order that `finish` returns.
        const begun = interleaved ? queues.map(queue => queue.shift()) : []
        for (const first of begun) if (first) pieces.push(first)
        for (let left = queues.filter(each => each.length > 0); left.length > 0; ) {
          const queue = left[interleaved ? picks.next().value % left.length : 0]
          const next = queue?.shift()
          if (next) pieces.push(next)
          left = left.filter(each => each.length > 0)
        }
        const chunks = []
        while (pieces.length > 0) chunks.push(pieces.splice(0, perChunk + 1))
        expect(accumulate(chunks)).toEqual(
          calls.map((call, position) => ({
            id: ids ? call.id : makeId(position),
            name: call.name,
            arguments: call.arguments,
          })),
        )
      }),
    )
  })
})
