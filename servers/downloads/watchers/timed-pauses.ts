import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Watcher } from '../../kit/server.ts'
import type { State } from '../state.ts'
import type { NamedClient } from '../upstreams/clients.ts'

const EVERY = 1000

/**
 * Creates watchers that resume each client without a timer of its own when its pause is over; an unreachable
 * client is tried again.
 */
export function watchTimedPauses(
  clients: readonly NamedClient[],
  { pauses, save }: State,
  clock: Clock,
  log: Log,
): Watcher[] {
  const resume = async ({ name, resumeAll }: NamedClient) => {
    const pause = pauses.get(name)
    if (!pause || clock.now() < pause.until) return
    await resumeAll({ only: pause.ids })
    if (pauses.get(name) !== pause) return
    pauses.delete(name)
    save()
    log('info', 'timed pause is over', { client: name })
  }
  return clients
    .filter(({ ownTimer }) => !ownTimer)
    .map(named => ({ name: `timed pause of ${named.name}`, every: EVERY, poll: () => resume(named) }))
}
