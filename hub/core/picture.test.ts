import { describe, expect, it } from 'vitest'
import { png } from '../model/form/testing/messages.ts'
import { readPicture } from './picture.ts'

/** Returns bytes given in hex, filled with zeros to the length that a real picture exceeds. */
const bytes = (hex: string) =>
  Buffer.concat([Buffer.from(hex.replaceAll(' ', ''), 'hex'), Buffer.alloc(30)]).toString('base64')
const size = { width: 1024, height: 768 }

describe('readPicture', () => {
  it.each([
    ['image/png', png(1024, 768).data],
    ['image/gif', bytes('474946383961 0004 0003')],
    ['image/jpeg', bytes('ffd8 ffe0 0004 0000 ff ffdb 0003 00 ffc2 0011 08 0300 0400')],
    ['image/webp', bytes('52494646 00000000 57454250 56503820 00000000 000000 9d012a 0004 0003')],
    ['image/webp', bytes('52494646 00000000 57454250 5650384c 00000000 2f ffc3bf00')],
    ['image/webp', bytes('52494646 00000000 57454250 56503858 0a000000 00000000 ff0300 ff0200')],
  ])('reads the size of %s', (mimeType, data) => {
    expect(readPicture(data)).toEqual({ mimeType, size })
  })

  it.each([
    [
      'a JPEG that ends before its frame',
      bytes('ffd8 ffe0 ffff'),
      { mimeType: 'image/jpeg', size: undefined },
    ],
    ['a JPEG of nothing', bytes('ffd8'), { mimeType: 'image/jpeg', size: undefined }],
    ['another kind', bytes('00000020 66747970 61766966'), undefined],
    ['nothing', '', undefined],
    ['text', '<svg xmlns="http://www.w3.org/2000/svg"/>', undefined],
  ])('%s', (_, data, expected) => {
    expect(readPicture(data)).toEqual(expected)
  })
})
