import { builtIns, type LoadableBuiltIn } from '../config/built-ins.ts'
import { serverEnvironment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { type CheckedServer, checkServer } from '../programs/check-server.ts'
import { isConfigured } from '../upstream/decide-servers.ts'

/**
 * Checks the upstreams of the built-in servers that the hub would start, in this process and without their
 * watchers, while no hub runs. Never rejects for what is wrong with a server.
 */
export function checkServers(config: Pick<Config, 'servers' | 'dataFolder'>): Promise<CheckedServer[]> {
  const wanted = builtIns.flatMap(builtIn => {
    const environment = toEnvironment(builtIn, config)
    return environment ? [{ builtIn, environment }] : []
  })
  return Promise.all(wanted.map(({ builtIn, environment }) => checkServer(builtIn, environment)))
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
