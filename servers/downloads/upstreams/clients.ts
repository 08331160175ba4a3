import { z } from 'zod'
import { type Access, type Limited, requireAccess } from '../../kit/access.ts'
import type { Clock } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { pickInstance } from '../../kit/instances.ts'
import { type DownloadsSettings, qbittorrentSpec, sabnzbdSpec, transmissionSpec } from '../config.ts'
import type { State } from '../state.ts'
import type { DownloadClient } from './download-client.ts'
import { createQbittorrent } from './qbittorrent/qbittorrent.ts'
import { openAdditions } from './sabnzbd/additions.ts'
import { createSabnzbd } from './sabnzbd/sabnzbd.ts'
import { createTransmission } from './transmission/transmission.ts'

/** A configured client, under the name that tools use. */
export interface NamedClient extends DownloadClient {
  /** The client's name: "sabnzbd", or "attic" for SABNZBD_ATTIC_URL. */
  readonly name: string
  /** An error in its settings: every call of this client fails, and no watcher reads it. */
  readonly problem?: string | undefined
  /** Throws a ToolFailure if the settings do not allow this access. */
  require(access: Access): void
}

/** Opens all configured clients, without a request yet. */
export function openClients(
  settings: DownloadsSettings,
  { clock, state }: { clock: Clock; state: State },
): NamedClient[] {
  const clients = [
    ...settings.sabnzbd.map(one =>
      toNamed(one, createSabnzbd(one, { clock, additions: openAdditions(one.name, state, clock) })),
    ),
    ...settings.qbittorrent.map(one => toNamed(one, createQbittorrent(one, clock))),
    ...settings.transmission.map(one => toNamed(one, createTransmission(one, clock))),
  ]
  return clients.map(client => {
    const { name, kind } = client
    // Instances of two programs may have the same name.
    const isTaken = clients.some(other => other !== client && other.name === name)
    return { ...client, name: isTaken ? `${kind}-${name}` : name }
  })
}

function toNamed(
  instance: Limited & { readonly name: string; readonly problem?: string },
  client: DownloadClient,
): NamedClient {
  const { name, problem } = instance
  return { ...client, name, problem, require: access => requireAccess(instance, access) }
}

/** Returns the argument that names a client, as an enum of the configured ones. */
export function clientField(clients: readonly NamedClient[]) {
  const [first, ...rest] = clients.map(({ name }) => name)
  const name = first === undefined ? z.string() : z.enum([first, ...rest])
  return name.optional()
}

/**
 * Returns the same argument for tools that seldom need it: the schema does not list the names, but a wrong
 * name is refused with the list.
 */
export function rareClientField(clients: readonly NamedClient[]) {
  const names = clients.map(({ name }) => name)
  const listed = names.map(name => `"${name}"`).join('|')
  const isKnown = (name: string) => names.length === 0 || names.includes(name)
  return z.string().refine(isKnown, `expected one of ${listed}`).optional()
}

/** Returns all clients, or the one of this name. Throws a ToolFailure if there is none. */
export function pickClients(clients: readonly NamedClient[], name: string | undefined): NamedClient[] {
  if (clients.length === 0) throw toNoClient()
  return name === undefined
    ? [...clients]
    : [pickInstance(clients, name, { ...sabnzbdSpec, title: 'download client' })]
}

function toNoClient(): ToolFailure {
  const specs = [sabnzbdSpec, qbittorrentSpec, transmissionSpec]
  const urls = specs.map(({ prefix }) => `${prefix}_URL`)
  const hints = specs.map(({ title, prefix, settings }) => {
    const others = Object.keys(settings).filter(key => !['URL', 'ACCESS'].includes(key))
    return `${title}: ${prefix}_URL and ${others.map(key => `${prefix}_${key}`).join(', ')}`
  })
  return new ToolFailure({
    what: 'No download client is configured here.',
    where: urls.join(', '),
    why: 'none of these is set',
    fix: `Ask the owner to set those of one program. ${hints.join('; ')}. The README of this server says where to find them.`,
  })
}
