import type { UpstreamHealth } from '../../schemas/health.ts'
import { checkHealth } from '../kit/health.ts'
import type { NamedClient } from './upstreams/clients.ts'

/** Checks in parallel whether every client answers. */
export function checkClients(clients: readonly NamedClient[]): Promise<UpstreamHealth[]> {
  return Promise.all(
    clients.map(({ name, kind, address, version }) => checkHealth({ name, kind, address }, version)),
  )
}
