import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSseParser, createWholeParser, type SseEvent } from './sse.ts'

function parse(pieces: string[]): SseEvent[] {
  const parser = createSseParser()
  return [...pieces.flatMap(piece => parser.push(piece)), ...parser.end()]
}

const data = (...texts: string[]) => texts.map(text => ({ name: undefined, data: text }))

const STREAMS: { what: string; stream: string; events: SseEvent[] }[] = [
  { what: 'events', stream: 'data: a\n\ndata: b\n\n', events: data('a', 'b') },
  { what: 'CRLF', stream: 'data: a\r\n\r\ndata: b\r\n\r\n', events: data('a', 'b') },
  { what: 'no space after the colon', stream: 'data:a\n\ndata:  b\n\n', events: data('a', ' b') },
  { what: 'comments', stream: ': OPENROUTER PROCESSING\n\n:\n\ndata: a\n: in it\n\n', events: data('a') },
  { what: 'data over many lines', stream: 'data: {\ndata: }\n\n', events: data('{\n}') },
  { what: 'other fields', stream: 'id: 7\nretry: 10\ndata: a\n\n', events: data('a') },
  {
    what: 'a name',
    stream: 'event: error\ndata: a\n\ndata: b\n\n',
    events: [{ name: 'error', data: 'a' }, ...data('b')],
  },
  { what: 'a name without data', stream: 'event: ping\n\ndata: a\n\n', events: data('a') },
  { what: 'blank lines between', stream: '\n\n\ndata: a\n\n\n\ndata: b\n\n', events: data('a', 'b') },
  { what: 'no blank line at the end', stream: 'data: a\n\ndata: b\n', events: data('a', 'b') },
  { what: 'no line end at the end', stream: 'data: a\n\ndata: b\r', events: data('a', 'b') },
  { what: 'nothing', stream: '', events: [] },
]

describe('createSseParser', () => {
  it.each(STREAMS)('reads $what', ({ stream, events }) => {
    expect(parse([stream])).toEqual(events)
  })

  it.each(STREAMS)('reads $what the same in any pieces', ({ stream, events }) => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), cuts => {
        const at = [0, ...cuts.sort((x, y) => x - y), stream.length]
        expect(parse(at.slice(1).map((end, i) => stream.slice(at[i], end)))).toEqual(events)
      }),
    )
  })

  it('gives an event as soon as it is whole', () => {
    const parser = createSseParser()
    expect(parser.push('data: a\n')).toEqual([])
    expect(parser.push('\ndata')).toEqual(data('a'))
  })
})

describe('createWholeParser', () => {
  it('gives the whole body as one event at the end', () => {
    const parser = createWholeParser()
    expect([parser.push('{"a":'), parser.push('\n\n1}'), parser.end()]).toEqual([[], [], data('{"a":\n\n1}')])
  })
})
