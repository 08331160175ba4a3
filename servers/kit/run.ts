import { flushCompileCache } from 'node:module'
import v8 from 'node:v8'
import { describeError } from './log.ts'
import type { Transport } from './serve.ts'
import type { ServerDefinition } from './server.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const EXIT_FAILED = 1
/** sysexits.h EX_CONFIG: started again, it would fail again. */
const EXIT_CONFIG = 78

/**
 * Serves until a signal comes or the client leaves, ends in order and then ends the process: code 0, 78 for
 * wrong settings, 1 for anything else. `onReady` gets the URL (undefined on stdio). All that is heavy is loaded in here: a
 * server's own file should import no more than this and load the rest in its `start`.
 */
export async function runServer(
  definition: ServerDefinition,
  transport: Transport,
  onReady?: (url: string | undefined) => void,
): Promise<never> {
  // V8 would grow its space for young objects while the modules are loaded, and an idle server would hold those 10 MB for
  // ever. What a call leaves is small: it never needs more than the first megabytes.
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  // As the hub has it: what Node compiled of the modules of both is of use to each only with the same settings.
  v8.setFlagsFromString('--no-maglev')
  try {
    const stop = Promise.withResolvers<void>()
    for (const signal of SIGNALS) process.on(signal, () => stop.resolve())
    const { serve } = await import('./serve.ts')
    await using served = await serve(definition, { transport })
    flushCompileCache() // where one is on: a later start then needs no type stripping, even after a kill
    onReady?.(served.url)
    await Promise.race([stop.promise, served.closed])
  } catch (error) {
    process.stderr.write(`${definition.name}: ${describeError(error)}\n`)
    const { SettingsError } = await import('./env.ts')
    process.exit(error instanceof SettingsError ? EXIT_CONFIG : EXIT_FAILED)
  }
  process.exit(0)
}
