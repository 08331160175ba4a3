import { expect, test } from 'vitest'
import { makePdf } from '../../../tests/support/make-pdf.ts'
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
  expect(await readText(bytes, 'x')).toBe(text)
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
  await expect(readText(bytes, 'x')).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(message),
  })
})
