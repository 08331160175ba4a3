import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { makePdf } from '../../../tests/support/make-pdf.ts'
import { systemClock } from '../../core/clock.ts'
import { createPdfReader } from './extract-pages.ts'
import { readText } from './read-text.ts'

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
  expect(await readText(bytes, 'x', createPdfReader(systemClock))).toBe(text)
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
  await expect(readText(bytes, 'x', createPdfReader(systemClock))).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(message),
  })
})

test('a PDF that unpacks to too much ends its own process alone, and the next one is read', async () => {
  const words = 'BT /F1 12 Tf 40 780 Td (hello world and all that jazz) Tj ET\n'
  const bomb = makePdf([], deflateSync(Buffer.from(words.repeat(1_500_000))))
  expect(bomb.length).toBeLessThan(1_000_000)
  const readPages = createPdfReader(systemClock)
  const [pages, next] = await Promise.all([readPages(bomb), readPages(makePdf(['Fine']))])
  expect([pages, next]).toEqual([undefined, ['Fine']])
}, 120_000)
