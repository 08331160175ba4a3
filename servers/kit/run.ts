import { flushCompileCache } from 'node:module'
import v8 from 'node:v8'
import { describeError } from './log.ts'
import type { Transport } from './serve.ts'
import type { ServerDefinition } from './server.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EXIT_FAILED = 1
/** EX_CONFIG of sysexits.h: a restart would fail again. */
const EXIT_CONFIG = 78

/**
 * Serves until a signal arrives or the client disconnects, disposes in order and then ends the process: code
 * 0, 78 for wrong settings, 1 for anything else. `onReady` gets the URL (undefined on stdio). All heavy
 * modules are loaded in here: a server's own file should import no more than this and load the rest in its
 * `start`.
 */
export async function runServer(
  definition: ServerDefinition,
  transport: Transport,
  onReady?: (url: string | undefined) => void,
): Promise<never> {
  // V8 would grow its space for young objects while the modules are loaded, and an idle server would keep
  // those 10 MB for ever. A call leaves little garbage and never needs more than the first megabytes.
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  try {
    const stop = Promise.withResolvers<void>()
    for (const signal of SIGNALS) process.on(signal, () => stop.resolve())
    const { serve } = await import('./serve.ts')
    await using served = await serve(definition, { transport })
    flushCompileCache() // with a compile cache, a later start needs no type stripping, even after a kill
    onReady?.(served.url)
    await Promise.race([stop.promise, served.closed])
  } catch (error) {
    process.stderr.write(`${definition.name}: ${describeError(error)}\n`)
    const { SettingsError } = await import('./env.ts')
    process.exit(error instanceof SettingsError ? EXIT_CONFIG : EXIT_FAILED)
  }
  process.exit(0)
}
