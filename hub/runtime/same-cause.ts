import { parseJson } from '../core/json.ts'
import { toldSince } from '../store/event-releases.ts'
import type { EventRow } from '../store/tables.ts'
import { agentOfThread } from '../store/threads.ts'
import type { Tx } from '../store/writer.ts'

type Payload = Record<string, unknown>

interface Noticed {
  type: string
  key: string
  payload: Payload
}

/** Events of other servers that tell of the same thing. */
interface Cause {
  types: readonly string[]
  isSame(event: Payload, told: Payload): boolean
}

/** Differences that are allowed: two checks of one disk, some time apart, find nearly the same free space. */
const FREE_SHARE = 0.1
const FREE_BYTES = 2 * 1024 ** 3

const DISK_FULL: Cause = { types: ['disk_high', 'disk_full_warning'], isSame: isSameDisk }

const CAUSES: ReadonlyMap<string, Cause> = new Map([
  ['disk_high', { ...DISK_FULL, types: ['disk_full_warning'] }],
  ['disk_full_warning', DISK_FULL],
  ['container_unhealthy', { types: ['server_crash'], isSame: isSameContainer }],
])

/** Tells whether two servers mean one disk. A path says nothing: a client in a container has its own. */
function isSameDisk({ free: one }: Payload, { free: other }: Payload): boolean {
  // An event without the figure may be about any disk.
  if (typeof one !== 'number' || typeof other !== 'number') return true
  return Math.abs(one - other) <= Math.max(FREE_BYTES, FREE_SHARE * Math.max(one, other))
}

function isSameContainer({ name }: Payload, { server, container = server }: Payload): boolean {
  return name !== undefined && name === container
}

/**
 * Returns the event of another type, or of another server, that told each of these agents of the same cause;
 * undefined if one of them did not hear of it.
 */
export async function findSameCause(
  tx: Tx,
  event: Noticed,
  agents: readonly string[],
  { since, now }: { since: number; now: number },
): Promise<EventRow | undefined> {
  const cause = CAUSES.get(event.type)
  if (!cause) return undefined
  const rows = await toldSince(tx, { types: cause.types, since, now })
  const same = rows.filter(row => cause.isSame(event.payload, parseJson(row.payload_json) as Payload))
  const told = new Set(same.flatMap(row => agentsOf(row)))
  return agents.every(agent => told.has(agent)) ? same[0] : undefined
}

function agentsOf({ routed_to_json }: EventRow): string[] {
  return (parseJson(routed_to_json) as string[]).map(agentOfThread)
}
