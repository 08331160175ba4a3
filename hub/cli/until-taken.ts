import { sleep, systemClock } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { type HubStatus, hubStatus } from '../mcp/hub-tools/status.ts'
import { callHub } from './call-hub.ts'
import { findHub, type RunningHub } from './find-hub.ts'

export type ServerState = HubStatus['servers'][number]

/** A change takes effect within two seconds. */
const TAKEN_WITHIN_MS = 6_000
/** What a server may take to start, a download of its package aside. */
const SETTLED_WITHIN_MS = 45_000
const LOOK_MS = 150

/** The hub that runs on the data folder; undefined for none. */
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
 * What the hub says of a server once `isTaken` holds and it does not start any more, or the last thing that it said.
 * Throws `unavailable` where the hub does not take the change, with what it says of its config.
 */
export async function untilTaken(
  hub: RunningHub,
  name: string,
  isTaken: (server: ServerState | undefined) => boolean,
): Promise<ServerState | undefined> {
  const began = systemClock.monotonic()
  for (;;) {
    const { servers, problems } = await readHub(hub)
    // Of several with one name the first is the one that has it.
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
