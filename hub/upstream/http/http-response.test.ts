import { expect, test } from 'vitest'
import { ResponseReader } from './http-response.ts'

interface Told {
  status: number
  headers: Record<string, string>
  body: string
  isReusable: boolean | undefined
}

/** Reads the parts of a response; returns what the reader reports of them. */
function read(parts: readonly Buffer[], isClosed = false): Told {
  const body: Buffer[] = []
  const told: Told = { status: 0, headers: {}, body: '', isReusable: undefined }
  const reader = new ResponseReader({
    onHead: ({ status, headers }) => Object.assign(told, { status, headers: Object.fromEntries(headers) }),
    onBody: part => body.push(Buffer.from(part)),
    onEnd: isReusable => Object.assign(told, { isReusable }),
  })
  reader.expect()
  for (const part of parts) reader.take(part)
  if (isClosed) reader.close()
  return { ...told, body: Buffer.concat(body).toString() }
}

/** Responses, and how each has to be read. */
const RESPONSES: Record<string, [text: string, told: Omit<Told, 'headers'>]> = {
  'a body of a length': [
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length:5\r\n\r\n{"ü}',
    { status: 200, body: '{"ü}', isReusable: true },
  ],
  'a body in chunks, with an extension and a trailer': [
    'HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA \r\n0123456789\r\n0\r\nX: y\r\n\r\n',
    { status: 200, body: 'abc0123456789', isReusable: true },
  ],
  'no body, though its headers speak of one': [
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\nConnection: Close\r\n\r\n',
    { status: 204, body: '', isReusable: false },
  ],
  'an empty body': [
    'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n',
    { status: 202, body: '', isReusable: true },
  ],
  'hints that come before': [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    { status: 200, body: 'ok', isReusable: true },
  ],
  'two lengths, one of which a smuggler sends': [
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    { status: 200, body: 'ok', isReusable: false },
  ],
  'two lengths, one of them none': [
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    { status: 200, body: 'ok', isReusable: false },
  ],
  'the older HTTP': [
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
    { status: 200, body: 'ok', isReusable: false },
  ],
}

for (const [name, [text, told]] of Object.entries(RESPONSES)) {
  test(`it reads ${name}, wherever the network cuts it`, () => {
    const bytes = Buffer.from(text)
    expect(read([bytes])).toMatchObject(told)
    for (let at = 1; at < bytes.length; at++) {
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toMatchObject(told)
    }
    expect(read([...bytes].map(byte => Buffer.from([byte])))).toMatchObject(told)
  })
}

test('headers are found by their names in lower case, and joined where they come twice', () => {
  const text = 'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:  2 \r\nLocation: http://a/b:c\r\nContent-Length: 0\r\n\r\n'
  expect(read([Buffer.from(text)]).headers).toEqual({
    'x-a': '1, 2',
    location: 'http://a/b:c',
    'content-length': '0',
  })
})

test('a body without a length ends with its connection', () => {
  const parts = ['HTTP/1.1 200 OK\r\n\r\n', 'a', 'b'].map(part => Buffer.from(part))
  expect(read(parts)).toMatchObject({ body: 'ab', isReusable: undefined })
  expect(read(parts, true)).toMatchObject({ body: 'ab', isReusable: false })
})

test('a connection that closes too soon is no end', () => {
  expect(
    read([Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok')], true).isReusable,
  ).toBeUndefined()
})

test('a connection that says more than it was asked for is not used again', () => {
  const text =
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'
  expect(read([Buffer.from(text)])).toMatchObject({ body: 'ok', isReusable: false })
  const told: string[] = []
  const reader = new ResponseReader({
    onHead: () => told.push('head'),
    onBody: () => told.push('body'),
    onEnd: () => told.push('end'),
  })
  expect(() => reader.take(Buffer.from(text))).toThrow('what nobody asked for')
  expect(told).toEqual([])
})

const NONSENSE: Record<string, string> = {
  'something else': 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  'a status that is none': 'HTTP/1.1 2xx OK\r\n\r\n',
  'a header without a name': 'HTTP/1.1 200 OK\r\n: no\r\n\r\n',
  'a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  'lengths that differ': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  'a chunk without a size': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
  'a chunk longer than its size': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n',
  'a head without an end': `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`,
  'a line without an end': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(100_000)}`,
}

for (const [name, text] of Object.entries(NONSENSE)) {
  test(`${name} is no response`, () => {
    expect(() => read([Buffer.from(text)])).toThrow('does not speak HTTP')
  })
}
