import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import type { Sources } from './containers/sources.ts'
import type { Hosts } from './hosts.ts'
import type { Alertmanager } from './upstreams/alertmanager/alertmanager.ts'
import type { Prometheus } from './upstreams/prometheus/prometheus.ts'

/** Checks whether all upstreams of this server answer, with their versions. Never rejects. */
export function checkUpstreams(deps: {
  hosts: Hosts
  sources: Sources
  alertmanagers: readonly Alertmanager[]
  prometheuses: readonly Prometheus[]
}): Promise<UpstreamHealth[]> {
  const asked = [
    ...deps.prometheuses.map(one => ({ kind: 'Prometheus', one })),
    ...deps.alertmanagers.map(one => ({ kind: 'Alertmanager', one })),
    ...deps.sources.engines().map(one => ({ kind: 'container engine', one })),
    ...deps.sources.clusters().map(one => ({ kind: 'Kubernetes', one })),
  ]
  const remote = deps.hosts.remote.map(({ name, upstream, machine }) => {
    const about = { name, kind: 'node-exporter', address: upstream.address }
    return checkHealth(about, () => machine.version())
  })
  const others = asked.map(({ kind, one }) =>
    checkHealth({ name: one.name, kind, address: one.address }, () => one.version()),
  )
  return Promise.all([...others, ...remote])
}
