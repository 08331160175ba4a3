import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Returns the bytes of this process's objects and external buffers, after a garbage collection. */
export function heldMemory(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
