import { expect, test } from 'vitest'
import { toConfigs, toShownAddress } from './postgres-address.ts'

test.each([
  ['postgres://hub:p@db.home:5432/store?sslmode=require', 'postgres://db.home:5432/store'],
  ['postgresql://hub@a:1,b:2,[::1]:3/store', 'postgres://a:1,b:2,[::1]:3/store'],
  ['postgres://a/store', 'postgres://a/store'],
])('%s is shown as %s', (url, shown) => {
  expect(toShownAddress(url)).toBe(shown)
})

test.each([
  [
    'postgres://hub:p%40ss,word@a:1,b/store?sslmode=require',
    [
      'postgres://hub:p%40ss,word@a:1/store?sslmode=require&uselibpqcompat=true',
      'postgres://hub:p%40ss,word@b/store?sslmode=require&uselibpqcompat=true',
    ],
  ],
  ['postgres://a/store', ['postgres://a/store?uselibpqcompat=true']],
])('%s has the hosts %j', (url, hosts) => {
  expect(toConfigs(url).map(({ connectionString }) => connectionString)).toEqual(hosts)
})
