import { type HubStatus, hubStatus } from '../../schemas/hub-status.ts'
import { sleep, systemClock, toIso } from '../core/clock.ts'
import { HubError } from '../core/errors.ts'
import { plural, toLine } from '../core/text.ts'
import { describeChanged, describeName } from '../mcp/hub-tools/status.ts'
import { callHub } from './call-hub.ts'
import type { RunningHub } from './find-hub.ts'

export type ServerState = HubStatus['servers'][number]

/** Milliseconds to wait for a change, which takes effect within two seconds. */
const TAKEN_WITHIN_MS = 6_000
/** Milliseconds that a server may take to start, without a download of its package. */
const SETTLED_WITHIN_MS = 45_000
const LOOK_MS = 150

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

/** Describes a server and its state in lines for a person. */
export function describeServer(server: HubStatus['servers'][number]): string {
  const {
    name,
    state,
    origin,
    transport,
    era,
    tools,
    error,
    nextTryAt,
    collisions = [],
    leftOut = [],
  } = server
  const from = [origin, transport, era].filter(Boolean).join(', ')
  const lines = [
    ...(error ? [`  ${toLine(error)}`] : []),
    ...(nextTryAt === undefined ? [] : [`  tried again at ${toIso(nextTryAt)}`]),
    ...(collisions.length > 0 ? [`  names that others have: ${toLine(collisions.join(', '))}`] : []),
    ...describeChanged(server).map(line => `  ${toLine(line)}`),
    ...leftOut.map(entry => `  left out: ${toLine(entry)}`),
  ]
  return [
    `${name}${toLine(describeName(server))}: ${state}, ${plural(tools, 'tool')} (${from})`,
    ...lines,
  ].join('\n')
}
