import type { HealthReport } from '../../schemas/health.ts'
import { systemClock, timeoutSignal, unlessAborted } from '../../servers/kit/clock.ts'
import { toHealth } from '../../servers/kit/health.ts'
import type { LoadableBuiltIn } from '../config/built-ins.ts'
import { describeError } from '../core/errors.ts'

const LIMIT_MS = 30_000

/** Health of a built-in server's upstreams, or the reason why the server itself cannot start. */
export interface CheckedServer {
  name: string
  upstreams: HealthReport['upstreams']
  problem?: string
}

/** Starts a built-in server in this process, without its watchers, and asks its upstreams. Never rejects. */
export async function checkServer(
  builtIn: LoadableBuiltIn,
  environment: Record<string, string>,
): Promise<CheckedServer> {
  const { name } = builtIn
  const deadline = timeoutSignal(systemClock, LIMIT_MS)
  try {
    const definition = await builtIn.load()
    const ignored = () => undefined
    await using started = await definition.start({
      clock: systemClock,
      environment,
      log: ignored,
      emit: ignored,
    })
    const asked = toHealth(started)?.() ?? Promise.resolve({ ok: true, upstreams: [] })
    const { upstreams } = await unlessAborted(asked, deadline.signal)
    return { name, upstreams }
  } catch (error) {
    return { name, upstreams: [], problem: describeError(error) }
  } finally {
    deadline.cancel()
  }
}
