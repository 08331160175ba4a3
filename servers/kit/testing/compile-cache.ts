import { systemEnvironment } from '../env.ts'

/** Variables for a program that a test starts: what it strips and compiles is kept where this process keeps its own. */
export function compileCache(): Record<string, string> {
  const folder = systemEnvironment()['NODE_COMPILE_CACHE']
  return folder ? { NODE_COMPILE_CACHE: folder } : {}
}
