import type { UpstreamHealth } from '../../schemas/health.ts'
import { toNoEngine } from '../kit/docker/find-engines.ts'
import { checkHealth } from '../kit/health.ts'
import type { GamesDeps } from './games.ts'

const ENGINE = 'container engine'
const CLUSTER = 'Kubernetes cluster'

/**
 * Checks whether the engines and clusters answer. If a declared game needs one and none exists, that is
 * reported.
 */
export async function checkUpstreams(deps: GamesDeps): Promise<UpstreamHealth[]> {
  return await Promise.all([...checkEngines(deps), ...checkClusters(deps)])
}

function checkEngines({ engines, settings }: GamesDeps): Promise<UpstreamHealth>[] {
  const found = engines()
  const needed = settings.declared.some(({ backend }) => backend.kind === 'docker')
  if (found.length === 0 && needed) {
    const nowhere = { name: 'docker', kind: ENGINE, address: 'none' }
    return [checkHealth(nowhere, () => Promise.reject(toNoEngine()))]
  }
  return found.map(engine =>
    checkHealth({ name: engine.name, kind: ENGINE, address: engine.address }, () => engine.version()),
  )
}

function checkClusters({ cluster, settings }: GamesDeps): Promise<UpstreamHealth>[] {
  const contexts = settings.declared.flatMap(({ backend }) =>
    backend.kind === 'kubernetes' ? [backend.context] : [],
  )
  return [...new Set(contexts)].map(async context => {
    const name = context ?? 'kubernetes'
    try {
      const found = cluster(context)
      return await checkHealth({ name, kind: CLUSTER, address: found.address }, () => found.version())
    } catch (error) {
      return await checkHealth({ name, kind: CLUSTER, address: 'none' }, () => Promise.reject(error))
    }
  })
}
