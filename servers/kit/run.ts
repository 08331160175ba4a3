import './young-space.ts'
import { flushCompileCache } from 'node:module'
import { SettingsError } from './env.ts'
import { describeError } from './log.ts'
import { serve, type Transport } from './serve.ts'
import type { ServerDefinition } from './server.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EXIT_FAILED = 1
/** sysexits.h EX_CONFIG: started again, it would fail again. */
const EXIT_CONFIG = 78

/**
 * Serves until a signal comes or the client leaves, ends in order and then ends the process: code 0, 78 for
 * wrong settings, 1 for anything else. `onReady` gets the URL (undefined on stdio).
 */
export async function runServer(
  definition: ServerDefinition,
  transport: Transport,
  onReady?: (url: string | undefined) => void,
): Promise<never> {
  try {
    const stop = Promise.withResolvers<void>()
    for (const signal of SIGNALS) process.on(signal, () => stop.resolve())
    await using served = await serve(definition, { transport })
    flushCompileCache() // where one is on: a later start then needs no type stripping, even after a kill
    onReady?.(served.url)
    await Promise.race([stop.promise, served.closed])
  } catch (error) {
    process.stderr.write(`${definition.name}: ${describeError(error)}\n`)
    process.exit(error instanceof SettingsError ? EXIT_CONFIG : EXIT_FAILED)
  }
  process.exit(0)
}
