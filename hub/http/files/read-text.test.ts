import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { LARGEST_FILE } from '../../../schemas/files.ts'
import { makePdf } from '../../../tests/support/make-pdf.ts'
import { systemClock } from '../../core/clock.ts'
import { createPdfReader } from './extract-pages.ts'
import { readText } from './read-text.ts'

const readPages = (bytes: Uint8Array) => createPdfReader(systemClock)(bytes, 'anna')

test.each([
  ['UTF-8', Buffer.from('Größe: 5 µm\n'), 'Größe: 5 µm\n'],
  ['UTF-8 with a mark', Buffer.from('\uFEFFa,b\n'), 'a,b\n'],
  ['UTF-16 as Windows writes it', Buffer.from('\uFEFFHallo', 'utf16le'), 'Hallo'],
  [
    'a PDF',
    makePdf(['Boiler (type 7)', 'Error E42: no flame']),
    '[page 1]\nBoiler (type 7)\nError E42: no flame',
  ],
])('reads %s', async (_what, bytes, text) => {
  expect(await readText(bytes, 'x', readPages)).toBe(text)
})

test.each([
  ['an empty file', Buffer.alloc(0), /^x is empty/],
  ['a program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 0xff]), /^x holds no text .*convert it/],
  ['text with zeroes', Buffer.from('a\0b'), /^x holds no text/],
  ['a PDF of scans', makePdf([]), /^x holds only pictures.*send its pages as pictures/],
  ['a torn PDF', Buffer.from('%PDF-1.7\n\x00\x01 nonsense'), /^x cannot be read/],
  [
    'a PDF within a PDF without end',
    Buffer.from(`%PDF-1.4\n${'1 0 obj << /Kids [1 0 R] /Type /Pages >> endobj '.repeat(9)}`),
    /^x cannot be read/,
  ],
])('refuses %s and says why', async (_what, bytes, message) => {
  await expect(readText(bytes, 'x', readPages)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(message),
  })
})

test('a PDF that unpacks to too much ends its own process alone, and the next one is read', async () => {
  const words = 'BT /F1 12 Tf 40 780 Td (hello world and all that jazz) Tj ET\n'
  const bomb = makePdf([], deflateSync(Buffer.from(words.repeat(1_500_000))))
  expect(bomb.length).toBeLessThan(1_000_000)
  const read = createPdfReader(systemClock)
  const [pages, next] = await Promise.all([read(bomb, 'anna'), read(makePdf(['Fine']), 'anna')])
  expect([pages, next]).toEqual([undefined, ['Fine']])
}, 120_000)

test('a PDF of somebody else waits for one PDF of whoever sends many, who is told where they are too many', async () => {
  const read = createPdfReader(systemClock)
  const ends: string[] = []
  const send = async (author: string, text: string) => {
    await read(makePdf([text]), author)
    ends.push(text)
  }
  const sent = ['1', '2', '3', '4'].map(text => send('anna', text))
  sent.push(send('owner', 'of the owner'))
  await Promise.all(sent)
  expect(ends).toEqual(['1', '2', 'of the owner', '3', '4'])
  const many = Array.from({ length: 9 }, () => send('anna', 'more'))
  await expect(send('anna', 'too many')).rejects.toThrow(/8 PDFs of yours wait/)
  await Promise.all(many)
}, 120_000)

test('a text file is kept to its end, and a PDF with more text than that is refused', async () => {
  const log = `${'x'.repeat(LARGEST_FILE - 3)}end`
  expect((await readText(Buffer.from(log), 'x', readPages)).slice(-3)).toBe('end')
  await expect(readText(Buffer.from('%PDF-'), 'x', async () => [log, log])).rejects.toThrow(
    /^x has more than 10,485,760 characters of text: send it in parts/,
  )
})
