import { systemEnvironment } from '../env.ts'

/** Returns variables for a program that a test starts: it then shares the compile cache of this process. */
export function compileCache(): Record<string, string> {
  const folder = systemEnvironment()['NODE_COMPILE_CACHE']
  return folder ? { NODE_COMPILE_CACHE: folder } : {}
}
