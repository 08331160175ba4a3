import { createServer, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPublicFetch, isPublicAddress, NotPublicError } from './public-fetch.ts'

let server: Server
let port = 0
let requests = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    requests++
    if (request.url === '/moved') response.writeHead(302, { Location: `http://[::1]:${port}/` })
    response.end('inside')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise(resolve => server.close(resolve)))

/** Resolves names by turns with these addresses. */
function createLookup(...turns: string[][]): LookupFunction & { asked: number } {
  const lookup: LookupFunction = (_hostname, _options, done) => {
    const addresses = turns[Math.min(answered.asked++, turns.length - 1)] ?? []
    done(
      null,
      addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  const answered = Object.assign(lookup, { asked: 0 })
  return answered
}

const nobody = () => false

async function expectRefused(url: string, lookup?: LookupFunction) {
  const before = requests
  await expect(createPublicFetch(nobody, lookup)(url)).rejects.toBeInstanceOf(NotPublicError)
  expect(requests).toBe(before)
}

describe('isPublicAddress', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.251',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::127.0.0.1',
    '64:ff9b::c0a8:101',
    '64:ff9b:1::1',
    '2001:0:4136:e378::1',
    '2002:7f00:1::',
    'fd00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::fb',
    '::ffff:0:127.0.0.1',
    '200:1::1',
    '5f00::1',
    '8000::1',
    'localhost',
    '',
  ])('%s is in no public network', address => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each([
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '223.255.255.255',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
  ])('%s is public', address => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

test.each([
  '127.0.0.1',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '017700000001',
  '0',
  '[::]',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  'localhost',
  'LOCALHOST',
])('%s is not asked', async host => {
  await expectRefused(`http://${host}:${port}/`)
  await expectRefused(`https://${host}:${port}/`)
})

test('a name that resolves to addresses inside is not asked', async () => {
  await expectRefused(`http://nas.example:${port}/`, createLookup(['127.0.0.1', '::1']))
  await expectRefused(`https://nas.example:${port}/`, createLookup(['127.0.0.1']))
})

test('a name whose address changes after it was looked up is not asked', async () => {
  const lookup = createLookup(['93.184.215.14'], ['127.0.0.1'])
  lookup('rebound.example', {}, () => undefined)
  await expectRefused(`http://rebound.example:${port}/`, lookup)
  expect(lookup.asked).toBe(2)
})

test('a name with a public address and one inside is not asked', async () => {
  await expectRefused(`http://mixed.example:${port}/`, createLookup(['93.184.215.14', '127.0.0.1']))
})

test('a host that the operator named is asked, and no other host to which it sends on', async () => {
  const isNamed = ({ hostname }: { hostname: string }) =>
    hostname === '127.0.0.1' || hostname === 'nas.example'
  const named = createPublicFetch(isNamed, createLookup(['127.0.0.1']))
  for (const host of ['127.0.0.1', 'nas.example'])
    expect(await (await named(`http://${host}:${port}/`)).text()).toBe('inside')
  const before = requests
  await expect(named(`http://127.0.0.1:${port}/moved`)).rejects.toThrow('[::1] is in a private network (::1)')
  expect(requests).toBe(before + 1)
})
