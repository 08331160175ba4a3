import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ToolFailure } from '../../kit/failure.ts'
import { readMagnet, readTorrentFile } from '../upstreams/torrent-file.ts'
import { toSource } from './to-source.ts'

const INFO = 'd6:lengthi3e4:name7:lab.iso12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae'
const TORRENT = Buffer.from(`d8:announce8:http://x4:info${INFO}7:trailerli1ei2eee`)
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

test('the id of a torrent is the hash of its info, as it stands', () => {
  const id = createHash('sha1').update(INFO).digest('hex')
  expect(readTorrentFile(TORRENT)).toEqual({ id, name: 'lab.iso' })
  const version2 = 'd9:file treede12:meta versioni2e4:name3:labe'
  expect(readTorrentFile(Buffer.from(`d4:info${version2}e`))).toEqual({
    id: createHash('sha256').update(version2).digest('hex').slice(0, 40),
    name: 'lab',
  })
})

test.each([
  ['nothing', ''],
  ['text', 'hello'],
  ['no info', 'd8:announce1:xe'],
  ['an info that is a text', 'd4:info3:abce'],
  ['a length beyond the end', 'd4:info9999:abce'],
  ['a cut one', TORRENT.toString('latin1').slice(0, 60)],
  ['lists without an end', `d4:info${'l'.repeat(100_000)}`],
])('%s is no torrent', (_what, text) => {
  expect(readTorrentFile(Buffer.from(text))).toBeUndefined()
})

test('magnet links name their torrent in hex or base 32', () => {
  const hex = 'C0FFEE'.repeat(6).concat('C0FF')
  expect(readMagnet(`magnet:?dn=A%20b&xt=urn:btih:${hex}`)).toEqual({ id: hex.toLowerCase(), name: 'A b' })
  const base32 = 'YD764YH77TXMB77O4DH75YGP73WAX773'
  expect(readMagnet(`magnet:?xt=urn:btih:${base32}`)?.id).toMatch(/^[0-9a-f]{40}$/)
  expect(readMagnet(`magnet:?xt=urn:btih:${'A'.repeat(32)}`)?.id).toBe('0'.repeat(40))
  expect(readMagnet('magnet:?xt=urn:btih:short')).toBeUndefined()
})

test('files are known by what is in them, and get a name that clients take', () => {
  expect(toSource({ file: base64(TORRENT), fileName: '../../etc/lab' })).toMatchObject({
    kind: 'torrent',
    fileName: 'lab.torrent',
  })
  const nzb = base64('<?xml version="1.0"?>\n<!DOCTYPE nzb>\n<nzb xmlns="x"></nzb>')
  expect(toSource({ file: nzb, fileName: 'A "b".NZB' })).toMatchObject({ kind: 'nzb', fileName: 'A  b .NZB' })
  expect(toSource({ file: nzb })).toMatchObject({ fileName: 'download.nzb' })
})

test.each([
  [{}, /neither/],
  [{ url: 'http://x', file: 'aa' }, /both/],
  [{ file: 'not base64!' }, /not base64/],
  [{ file: base64('hello') }, /neither a .torrent nor/],
  [{ file: base64(Buffer.alloc(10 * 2 ** 20 + 1)) }, /larger/],
  [{ url: 'file:///etc/passwd' }, /file addresses/],
  [{ url: 'javascript:alert(1)' }, /javascript addresses/],
  [{ url: 'C:\\a.torrent' }, /c addresses/],
  [{ url: 'https://tracker/a.torrent\nfile:///etc/passwd' }, /more than one line/],
  [{ url: 'magnet:?xt=urn:btih:abc\r/etc/passwd' }, /more than one line/],
  [{ url: 'magnet:?xt=urn:btih:abc\u2028/etc/passwd' }, /more than one line/],
])('%# is refused with why', (given, why) => {
  try {
    toSource(given)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(ToolFailure)
    expect((error as ToolFailure).failure.why).toMatch(why)
  }
})
