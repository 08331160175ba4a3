import type { UpstreamHealth } from '../../schemas/health.ts'
import { toNoEngine } from '../kit/docker/find-engines.ts'
import { checkAll } from '../kit/health.ts'
import type { GamesDeps } from './games.ts'

/**
 * Checks whether the engines and clusters answer. If a declared game needs one and none exists, that is
 * reported.
 */
export function checkUpstreams({ engines, cluster, settings }: GamesDeps): Promise<UpstreamHealth[]> {
  const backends = settings.declared.map(({ backend }) => backend)
  const found = engines()
  const needsEngine = backends.some(({ kind }) => kind === 'docker')
  const contexts = new Set(backends.flatMap(one => (one.kind === 'kubernetes' ? [one.context] : [])))
  return checkAll([
    ...found.map(of => ({ kind: 'container engine', of })),
    ...(found.length === 0 && needsEngine
      ? [{ kind: 'container engine', of: toMissing('docker', toNoEngine()) }]
      : []),
    ...[...contexts].map(context => ({ kind: 'Kubernetes cluster', of: find(context, cluster) })),
  ])
}

function find(context: string | undefined, open: GamesDeps['cluster']) {
  const name = context ?? 'kubernetes'
  try {
    const { address, version } = open(context)
    return { name, address, version: () => version() }
  } catch (error) {
    return toMissing(name, error)
  }
}

function toMissing(name: string, error: unknown) {
  return { name, address: 'none', version: () => Promise.reject(error) }
}
