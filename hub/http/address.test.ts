import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createAddressOf, networkOf } from './address.ts'

const PROXIES = ['127.0.0.1', '172.16.0.0/12', 'fd00::/8']

test.each([
  ['nobody is trusted', [], '127.0.0.1', '203.0.113.9', '127.0.0.1'],
  ['who is no proxy may say anything', PROXIES, '192.168.1.7', '203.0.113.9', '192.168.1.7'],
  ['a proxy on this machine', PROXIES, '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['a proxy on a socket for both families', PROXIES, '::ffff:172.18.0.3', '203.0.113.9', '203.0.113.9'],
  ['a proxy of IPv6', PROXIES, 'fd00::7', '2001:db8::1', '2001:db8::1'],
  ['two proxies', PROXIES, '127.0.0.1', '203.0.113.9, 172.18.0.3', '203.0.113.9'],
  ['a sender that invents hops', PROXIES, '127.0.0.1', '10.0.0.1, 127.0.0.1, 203.0.113.9', '203.0.113.9'],
  ['no header', PROXIES, '127.0.0.1', undefined, '127.0.0.1'],
  ['a header that says nothing', PROXIES, '127.0.0.1', 'unknown', '127.0.0.1'],
  ['a port', PROXIES, '127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['a port after IPv6', PROXIES, '127.0.0.1', '[2001:db8::8]:4711', '2001:db8::8'],
  ['brackets', PROXIES, '127.0.0.1', '[2001:DB8:0::8]', '2001:db8::8'],
  ['a port of a proxy', PROXIES, '127.0.0.1', '203.0.113.9, 172.18.0.3:80', '203.0.113.9'],
  ['IPv4 within IPv6', PROXIES, '127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['IPv4 within IPv6, in hexadecimal', PROXIES, '127.0.0.1', '::ffff:cb00:7109', '203.0.113.9'],
  ['IPv4 on a socket for both families', [], '::ffff:203.0.113.9', undefined, '203.0.113.9'],
  ['a network card', [], 'fe80::1%eth0', undefined, 'fe80::1'],
  ['a number that is no address', PROXIES, '127.0.0.1', '3405803785', '127.0.0.1'],
])('%s', (_name, proxies, from, header, address) => {
  const request = { socket: { remoteAddress: from }, headers: { 'x-forwarded-for': header } }
  expect(createAddressOf(() => proxies)(request as unknown as IncomingMessage)).toBe(address)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['unknown', 'unknown'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
])('limits count %s by %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
