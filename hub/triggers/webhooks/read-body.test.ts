import { expect, test } from 'vitest'
import { readBody } from './read-body.ts'

const read = (type: string | undefined, text: string) => readBody(type, Buffer.from(text))

const taken: [string | undefined, string, Record<string, unknown>][] = [
  ['application/json', '{"a":1}', { a: 1 }],
  ['application/json; charset=utf-8', '{"a":"ü"}', { a: 'ü' }],
  ['application/vnd.x+json', '{"a":1}', { a: 1 }],
  ['application/json', '[1,2]', { body: [1, 2] }],
  ['application/json', '5', { body: 5 }],
  ['application/json', '', {}],
  [undefined, '{"a":1}', { a: 1 }],
  [undefined, 'the door is open', { text: 'the door is open' }],
  ['text/plain; charset=utf-8', '{"NotificationType":"ItemAdded"}', { NotificationType: 'ItemAdded' }],
  ['text/plain', '42', { text: '42' }],
  ['text/plain', '{half', { text: '{half' }],
  ['text/html', '<p>hello</p>', { text: '<p>hello</p>' }],
  ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=z', { a: '1', b: ['x y', 'z'] }],
  ['application/x-www-form-urlencoded', 'payload=%7B%22a%22%3A1%7D', { a: 1 }],
  ['application/x-www-form-urlencoded', 'payload=hello', { payload: 'hello' }],
]

test.for(taken)('%s %j', ([type, text, expected]) => {
  expect(read(type, text)).toEqual(expected)
})

const refused: [string, string | Buffer, RegExp][] = [
  ['application/json', '{half', /not the JSON/],
  ['multipart/form-data; boundary=x', '--x', /multipart\/form-data; send JSON, a form or text/],
  ['application/octet-stream', 'abc', /octet-stream/],
  ['text/plain', Buffer.from([0xff, 0xfe, 0x41]), /not UTF-8/],
]

test.for(refused)('%s is refused', ([type, bytes, words]) => {
  expect(() => readBody(type, Buffer.from(bytes))).toThrow(
    expect.objectContaining({ code: 'bad_request', message: expect.stringMatching(words) }),
  )
})
