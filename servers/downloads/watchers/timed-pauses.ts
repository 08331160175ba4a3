import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../../kit/log.ts'
import type { Watcher } from '../../kit/server.ts'
import type { State, TimedPause } from '../state.ts'
import type { NamedClient } from '../upstreams/clients.ts'

const EVERY = 1000

/** The timed pauses, by client, of clients without a timer of their own. */
export interface TimedPauses {
  get(client: string): TimedPause | undefined
  /** Replaces the client's earlier pause. Returns whether the pause survives a restart of this server. */
  set(client: string, pause: TimedPause): boolean
  clear(client: string): void
  /**
   * Returns watchers that resume each client when its pause is over; an unreachable client is tried again.
   */
  watchers(clients: readonly NamedClient[]): Watcher[]
}

export function openTimedPauses({ pauses, save }: State, clock: Clock, log: Log): TimedPauses {
  const resume = async ({ name, resumeAll }: NamedClient) => {
    const pause = pauses.get(name)
    if (!pause || clock.now() < pause.until) return
    await resumeAll({ only: pause.ids })
    if (pauses.get(name) !== pause) return
    pauses.delete(name)
    save()
    log('info', 'timed pause is over', { client: name })
  }
  return {
    get: client => pauses.get(client),
    set(client, pause) {
      pauses.set(client, pause)
      return save()
    },
    clear(client) {
      if (pauses.delete(client)) save()
    },
    watchers: clients =>
      clients
        .filter(({ ownTimer }) => !ownTimer)
        .map(named => ({ name: `timed pause of ${named.name}`, every: EVERY, poll: () => resume(named) })),
  }
}
