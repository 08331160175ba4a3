import { expect, test } from 'vitest'
import { parseMemory } from './memory.ts'

test('reads what is available, and swap where there is some', () => {
  const text = 'MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n'
  expect(parseMemory(text)).toEqual({
    totalBytes: 1_024_000,
    availableBytes: 614_400,
    swap: { totalBytes: 51_200, usedBytes: 30_720 },
  })
})

test('without swap there is none, and an old kernel has free and cached memory', () => {
  const text =
    'MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 30 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n'
  expect(parseMemory(text)).toEqual({ totalBytes: 1_024_000, availableBytes: 150 * 1024 })
})
