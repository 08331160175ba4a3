import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkAll } from '../kit/health.ts'
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
  return checkAll([
    ...deps.prometheuses.map(of => ({ kind: 'Prometheus', of })),
    ...deps.alertmanagers.map(of => ({ kind: 'Alertmanager', of })),
    ...deps.sources.engines().map(of => ({ kind: 'container engine', of })),
    ...deps.sources.clusters().map(of => ({ kind: 'Kubernetes', of })),
    ...deps.hosts.remote.map(({ name, upstream: { address }, machine: { version } }) => {
      return { kind: 'node-exporter', of: { name, address, version } }
    }),
  ])
}
