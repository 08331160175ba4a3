import { quote } from '../../kit/text.ts'
import { toWhy } from '../tools/common.ts'
import { type Arr, readComplaints, readQueue } from '../upstreams/arr/arr.ts'
import { decideQueueState, toQueueTitle } from '../upstreams/arr/queue.ts'
import { readSessions } from '../upstreams/jellyfin/jellyfin.ts'
import { readRequests, type Seerr } from '../upstreams/seerr/seerr.ts'
import type { Media } from '../upstreams/upstreams.ts'

const MOST_STUCK = 10

/** A problem in sentences without their full stop, and its fix. */
export interface Finding {
  where: string
  problem: string
  fix: string
}
type Found = Omit<Finding, 'where'>[]

/**
 * Collects all problems that Jellyfin, Radarr, Sonarr and Seerr report. An upstream that does not answer is a
 * finding too.
 */
export async function readFindings(
  { jellyfins, arrs, seerrs }: Media,
  signal: AbortSignal,
): Promise<Finding[]> {
  const found = await Promise.all([
    ...jellyfins.map(one =>
      check(
        one.upstream.title,
        readSessions(one, signal).then(() => []),
      ),
    ),
    ...arrs.map(one => check(one.upstream.title, readArrFindings(one, signal))),
    ...seerrs.map(one => check(one.upstream.title, readSeerrFindings(one, signal))),
  ])
  signal.throwIfAborted()
  return found.flat()
}

async function check(where: string, asked: Promise<Found>): Promise<Finding[]> {
  try {
    return (await asked).map(finding => ({ where, ...finding }))
  } catch (error) {
    const problem = `it could not be asked: ${toWhy(error, where).replace(/\.$/, '')}`
    return [{ where, problem, fix: 'Mend that first; until then nothing is known of it.' }]
  }
}

async function readSeerrFindings(seerr: Seerr, signal: AbortSignal): Promise<Found> {
  const { total } = await readRequests(seerr, { filter: 'failed', take: 1, skip: 0 }, signal)
  const problem = `${total} of its requests could not be handed to Radarr or Sonarr`
  const fix = 'Look at them with get_requests (state failed), and retry them in Seerr.'
  return total > 0 ? [{ problem, fix }] : []
}

async function readArrFindings(arr: Arr, signal: AbortSignal): Promise<Found> {
  const [complaints, queue] = await Promise.all([readComplaints(arr, signal), readQueue(arr, signal)])
  const stuck = queue.items
    .map(item => ({ title: toQueueTitle(item), ...decideQueueState(item) }))
    .filter(item => item.stuck)
    .slice(0, MOST_STUCK)
  return [
    ...complaints.map(text => ({
      problem: `it says ${quote(text, 300)}`,
      fix: `See System > Status in ${arr.upstream.title}.`,
    })),
    ...stuck.map(({ title, state, reason }) => ({
      problem: `${quote(title)} is stuck: ${state}${reason === undefined ? '' : `, ${quote(reason)}`}`,
      fix: 'diagnose_media with its title says more.',
    })),
  ]
}
