import { expect, test } from 'vitest'
import { onlyWider } from './upstream-servers.ts'

test('a client that wants less takes nothing from one that wants more, and servers are told once', () => {
  const told: string[] = []
  const setLogLevel = onlyWider(level => told.push(level))
  for (const level of ['warning', 'warning', 'debug', 'error', 'debug'] as const) setLogLevel(level)
  expect(told).toEqual(['warning', 'debug'])
})
