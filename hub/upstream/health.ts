import { type HealthReport, healthReport } from '../../schemas/health.ts'
import { type Clock, timeoutSignal } from '../core/clock.ts'
import { parseJson } from '../core/json.ts'
import type { Connection } from './connection.ts'

/** Milliseconds for a server, which asks the programs behind it all at once, each for at most ten seconds. */
const HEALTH_TIMEOUT_MS = 15_000

/**
 * Reads a server's `health://…` resource on the programs behind it; undefined if not of the hub's form.
 * Throws as `Connection.request` does.
 */
export async function readHealth(connection: Connection, clock: Clock): Promise<HealthReport | undefined> {
  const uri = connection.offer.resources.find(resource => resource.uri.startsWith('health://'))?.uri
  if (uri === undefined) return undefined
  const limit = timeoutSignal(clock, HEALTH_TIMEOUT_MS, uri)
  try {
    const { contents } = await connection.request('resources/read', { uri }, { signal: limit.signal })
    const [first] = contents
    return healthReport.safeParse(parseJson(first && 'text' in first ? first.text : '')).data
  } finally {
    limit.cancel()
  }
}
