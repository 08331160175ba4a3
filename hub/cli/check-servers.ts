import type { HealthReport } from '../../schemas/health.ts'
import { systemClock, timeoutSignal, unlessAborted } from '../../servers/kit/clock.ts'
import { toHealth } from '../../servers/kit/health.ts'
import { builtIns, type LoadableBuiltIn } from '../config/built-ins.ts'
import { serverEnvironment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { describeError } from '../core/errors.ts'
import { isConfigured } from '../upstream/decide-servers.ts'

const LIMIT_MS = 30_000

/** Health of a built-in server's upstreams, or the reason why the server itself cannot start. */
export interface CheckedServer {
  name: string
  upstreams: HealthReport['upstreams']
  problem?: string
}

/**
 * Checks the upstreams of the built-in servers that the hub would start, in this process and without their
 * watchers, while no hub runs. Never rejects for what is wrong with a server.
 */
export function checkServers(config: Pick<Config, 'servers' | 'dataFolder'>): Promise<CheckedServer[]> {
  const wanted = builtIns.flatMap(builtIn => {
    const environment = toEnvironment(builtIn, config)
    return environment ? [{ builtIn, environment }] : []
  })
  return Promise.all(wanted.map(({ builtIn, environment }) => check(builtIn, environment)))
}

/**
 * Returns the environment that the hub would give the server; undefined where it runs none or another one.
 */
function toEnvironment(
  builtIn: LoadableBuiltIn,
  { servers, dataFolder }: Pick<Config, 'servers' | 'dataFolder'>,
): Record<string, string> | undefined {
  const entry = servers[builtIn.name]
  if (entry === false || entry?.disabled || entry?.command || entry?.url) return undefined
  const seen = [...builtIn.envPrefixes, ...(builtIn.alsoSees ?? [])]
  const environment = {
    ...serverEnvironment(seen, dataFolder),
    ...entry?.env,
  }
  return builtIn.always || entry !== undefined || isConfigured(builtIn, environment) ? environment : undefined
}

async function check(builtIn: LoadableBuiltIn, environment: Record<string, string>): Promise<CheckedServer> {
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
