import { quote } from '../../kit/text.ts'
import { toUnknown } from '../tools/common.ts'
import { readHealth, readQueue } from '../upstreams/arr/arr.ts'
import { decideQueueState, toQueueTitle } from '../upstreams/arr/queue.ts'
import { readSessions } from '../upstreams/jellyfin/jellyfin.ts'
import { readRequests } from '../upstreams/seerr/seerr.ts'
import type { Media, Radarr, Sonarr } from '../upstreams/upstreams.ts'

const MOST_STUCK = 10

/** A problem in sentences without their full stop, and its fix. */
export interface Finding {
  where: string
  problem: string
  fix: string
}

/**
 * Collects all problems that Jellyfin, Radarr, Sonarr and Seerr report. An upstream that does not answer is a
 * finding too.
 */
export async function readFindings(media: Media, signal: AbortSignal): Promise<Finding[]> {
  const { jellyfins, radarrs, sonarrs, seerrs } = media
  const checks = [
    ...jellyfins.map(one => ({
      where: one.upstream.title,
      ask: async () => void (await readSessions(one, signal)),
    })),
    ...[...radarrs, ...sonarrs].map(one => ({
      where: one.upstream.title,
      ask: () => readArrFindings(one, signal),
    })),
    ...seerrs.map(one => ({
      where: one.upstream.title,
      ask: async () => {
        const { total } = await readRequests(one, { filter: 'failed', take: 1, skip: 0 }, signal)
        const problem = `${total} of its requests could not be handed to Radarr or Sonarr`
        return total > 0
          ? [{ problem, fix: 'Look at them with get_requests (state failed), and retry them in Seerr.' }]
          : []
      },
    })),
  ]
  const found = await Promise.all(checks.map(one => check(one.where, one.ask)))
  signal.throwIfAborted()
  return found.flat()
}

async function check(
  where: string,
  ask: () => Promise<Omit<Finding, 'where'>[] | undefined>,
): Promise<Finding[]> {
  try {
    return ((await ask()) ?? []).map(finding => ({ where, ...finding }))
  } catch (error) {
    const { why } = toUnknown(where, error)
    return [
      {
        where,
        problem: `it could not be asked: ${why.replace(/\.$/, '')}`,
        fix: 'Mend that first; until then nothing is known of it.',
      },
    ]
  }
}

async function readArrFindings(arr: Radarr | Sonarr, signal: AbortSignal): Promise<Omit<Finding, 'where'>[]> {
  const { upstream } = arr
  const [health, queue] = await Promise.all([readHealth(upstream, signal), readQueue(arr, signal)])
  const complaints = health
    .filter(one => one.type === 'error' || one.type === 'warning')
    .map(one => ({
      problem: `it says ${quote(one.message ?? one.source ?? '', 300)}`,
      fix: `See System > Status in ${upstream.title}.`,
    }))
  const stuck = queue.items
    .map(item => ({ title: toQueueTitle(item), ...decideQueueState(item) }))
    .filter(item => item.stuck)
    .slice(0, MOST_STUCK)
    .map(({ title, state, reason }) => ({
      problem: `${quote(title)} is stuck: ${state}${reason === undefined ? '' : `, ${quote(reason)}`}`,
      fix: `diagnose_media with its title says more.`,
    }))
  return [...complaints, ...stuck]
}
