import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Memory } from './machine.ts'
import type { Roots } from './roots.ts'

export async function readMemory(roots: Roots): Promise<Memory> {
  return parseMemory(await readFile(join(roots.proc, 'meminfo'), 'utf8'))
}

/**
 * Parses proc(5), /proc/meminfo. Kernels before 3.14 have no MemAvailable: free and cached memory is near it.
 */
export function parseMemory(text: string): Memory {
  const kibibytes = new Map(
    [...text.matchAll(/^(\w+):\s+(\d+) kB$/gm)].map(([, name, value]) => [name, Number(value) * 1024]),
  )
  const get = (name: string) => kibibytes.get(name) ?? 0
  const availableBytes = kibibytes.get('MemAvailable') ?? get('MemFree') + get('Buffers') + get('Cached')
  const swapTotal = get('SwapTotal')
  return {
    totalBytes: get('MemTotal'),
    availableBytes,
    ...(swapTotal > 0 ? { swap: { totalBytes: swapTotal, usedBytes: swapTotal - get('SwapFree') } } : {}),
  }
}
