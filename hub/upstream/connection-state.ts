import { toIso } from '../core/clock.ts'
import { MOST_IN_FLIGHT } from './bounds.ts'
import type { Connected } from './connect.ts'
import type { OfferKind } from './offer.ts'

/** The protocol era and transport of a connected server. */
export interface Spoken {
  era: 'legacy' | 'modern'
  transport: Connected['transport']
}

/**
 * `starting`: not connected yet; `error` says why the last connection was lost. `ready`: connected, and its
 * lists are known. `degraded`: connected, but a list cannot be read or calls get no answer; it recovers by
 * itself. `down`: not connected; the next try is at `nextTryAt`, unix milliseconds.
 */
export type ConnectionState =
  | { state: 'starting'; error?: string }
  | ({ state: 'ready' } & Spoken)
  | ({ state: 'degraded'; error: string } & Spoken)
  | { state: 'down'; error: string; nextTryAt: number }

const LISTS: Record<OfferKind, string> = {
  tools: 'tools',
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
}

/**
 * Returns the state of a connected server. `unread` maps each list that cannot be read to the reason;
 * `silence` says why the server counts as silent.
 */
export function decideCondition({
  era,
  transport,
  unread,
  silence,
}: Spoken & { unread: ReadonlyMap<OfferKind, string>; silence: string | undefined }): ConnectionState {
  const faults = [...unread].map(([kind, why]) => `its ${LISTS[kind]} cannot be listed: ${why}`)
  if (silence !== undefined) faults.unshift(silence)
  if (faults.length === 0) return { state: 'ready', era, transport }
  return { state: 'degraded', era, transport, error: faults.join('; ') }
}

/** Returns why a call to a server that is not connected fails. */
export function describeDown(name: string, status: ConnectionState): string {
  if (status.state !== 'down') {
    const before = 'error' in status && status.error !== undefined ? ` (it went away: ${status.error})` : ''
    return `The server ${name} is still starting${before}; try again in some seconds`
  }
  return `The server ${name} is down: ${status.error}. The next try is at ${toIso(status.nextTryAt)}`
}

/** Returns why a call to a server with too many requests in flight is refused. */
export function describeBusy(name: string): string {
  return `The server ${name} works on ${MOST_IN_FLIGHT} requests already; try again when some of them ended`
}
