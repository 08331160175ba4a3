import { sleep, systemClock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { type HubStatus, hubStatus } from '../mcp/hub-tools/status.ts'
import { callHub } from './call-hub.ts'
import { findHub, type RunningHub } from './find-hub.ts'

export type ServerState = HubStatus['servers'][number]

/** Milliseconds to wait for a change, which takes effect within two seconds. */
const TAKEN_WITHIN_MS = 6_000
/** Milliseconds that a server may take to start, without a download of its package. */
const SETTLED_WITHIN_MS = 45_000
const LOOK_MS = 150

/** Returns the hub that runs on the data folder; undefined for none. */
export function findRunning(): RunningHub | undefined {
  try {
    return findHub()
  } catch (error) {
    if (error instanceof HubError && error.code === 'unavailable') return undefined
    throw error
  }
}

export async function readHub(hub: RunningHub): Promise<HubStatus> {
  return hubStatus.parse((await callHub(hub, 'hub_status', {})).structured)
}

/**
 * Returns a server's state once `isTaken` holds and the server no longer starts, or its last state. Throws
 * `unavailable`, with the problems that the hub reports, where the hub does not apply the change.
 */
export async function untilTaken(
  hub: RunningHub,
  name: string,
  isTaken: (server: ServerState | undefined) => boolean,
): Promise<ServerState | undefined> {
  const began = systemClock.monotonic()
  for (;;) {
    const { servers, problems } = await readHub(hub)
    // The first of several servers with one name is the one that has it.
    const server = servers.find(one => one.name === name)
    const taken = isTaken(server)
    const waited = systemClock.monotonic() - began
    if (taken && (server?.state !== 'starting' || waited > SETTLED_WITHIN_MS)) return server
    if (!taken && waited > TAKEN_WITHIN_MS) {
      const said = problems.length > 0 ? ` It says: ${problems.join('; ')}` : ''
      throw new HubError('unavailable', `It is written, but the hub at ${hub.url} has not taken it.${said}`)
    }
    await sleep(systemClock, LOOK_MS)
  }
}
