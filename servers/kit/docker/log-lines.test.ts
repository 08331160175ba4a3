import { expect, test } from 'vitest'
import { FrameError, readLogLines } from './log-lines.ts'

function frame(stream: number, text: string): Buffer {
  const payload = Buffer.from(text)
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = (bytes: Buffer, size = bytes.length, tail = 100) =>
  readLogLines(inPieces(bytes, size), { framed: true, tail })

const log = Buffer.concat([
  frame(1, 'first\nsec'),
  frame(2, 'wrong: ä'),
  frame(1, 'ond\r\n'),
  frame(2, 'ö\n'),
  frame(1, ''),
  frame(1, '\nno end'),
])
const lines = ['first', 'second', 'wrong: äö', '', 'no end']

test.each([1, 2, 3, 5, 7, 8, 9, 11, 1000])('frames in chunks of %i bytes', async size => {
  expect(await read(log, size)).toEqual(lines)
})

test('only the newest lines are kept, and nothing is no line', async () => {
  expect(await read(log, 4, 2)).toEqual(['', 'no end'])
  expect(await read(Buffer.alloc(0))).toEqual([])
})

test.each([
  ['text instead of frames', Buffer.from('Hello, I am no frame\n')],
  ['a stream that does not exist', frame(9, 'x\n')],
  ['an end inside a header', frame(1, 'x\n').subarray(0, 5)],
  ['an end inside a payload', frame(1, 'long line\n').subarray(0, 12)],
])('%s is an error', async (_what, bytes) => {
  await expect(read(bytes)).rejects.toBeInstanceOf(FrameError)
})

test('a terminal has no frames', async () => {
  const body = inPieces(Buffer.from('one\r\ntwo ü\nthree'), 3)
  expect(await readLogLines(body, { framed: false, tail: 10 })).toEqual(['one', 'two ü', 'three'])
})

test('what is kept is bounded: each line, and all of them', async () => {
  const long = await read(frame(1, `${'x'.repeat(100_000)}\nnext\n`), 1000)
  expect(long.map(({ length }) => length)).toEqual([16 * 1024, 4])

  const many = Buffer.concat(
    Array.from({ length: 1000 }, (_, at) => frame(1, `${at} ${'y'.repeat(10_000)}\n`)),
  )
  const kept = await read(many, 65_536, 1000)
  expect(kept.length).toBeLessThan(450)
  expect(kept.length).toBeGreaterThan(400)
  expect(kept.at(-1)).toMatch(/^999 y/)
})
