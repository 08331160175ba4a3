import { type Clock, sleep } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { NamedClient } from '../upstreams/clients.ts'
import type { Download, Snapshot } from '../upstreams/download-client.ts'

/**
 * Milliseconds between two probes. All probes together take longer than qBittorrent, which shows a change
 * after two seconds.
 */
const STEP = 250
const PROBES = 20
/** Number of probes after which a change that may be dropped is requested again. */
const AGAIN_AFTER = 4

export interface Waiting {
  client: NamedClient
  clock: Clock
  signal: AbortSignal
}

/**
 * Tells whether the client shows a requested change within five seconds, so that the next read agrees with
 * it. `again` repeats the request; the change must then be shown twice in a row, since Transmission drops a
 * start while a stop is running and shows the torrent as running meanwhile.
 */
export async function isShownSoon(
  { client, clock, signal }: Waiting,
  isShown: (snapshot: Snapshot) => boolean,
  again?: () => Promise<void>,
): Promise<boolean> {
  let shown = 0
  for (let probe = 1; probe <= PROBES; probe++) {
    if (probe > 1) await sleep(clock, STEP, signal)
    const snapshot = await readQuietly(client, signal)
    if (!snapshot) return false
    shown = isShown(snapshot) ? shown + 1 : 0
    if (shown === (again ? 2 : 1)) return true
    if (again && shown === 0 && probe % AGAIN_AFTER === 0) await again()
  }
  return false
}

/** Reads the client. The change was made before, so an unreachable client does not make it fail. */
async function readQuietly(client: NamedClient, signal: AbortSignal): Promise<Snapshot | undefined> {
  return client.readSnapshot(signal).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

/**
 * Waits as `isShownSoon` does, and throws if the client does not show the change. `change` continues "does
 * not show that".
 */
export async function requireShown(
  waiting: Waiting,
  change: string,
  isShown: (snapshot: Snapshot) => boolean,
  again?: () => Promise<void>,
): Promise<void> {
  if (await isShownSoon(waiting, isShown, again)) return
  const { title, address } = waiting.client
  throw new ToolFailure({
    what: `${title} does not show that ${change}.`,
    where: address,
    why: `it took the request, but ${(STEP * PROBES) / 1000} s later it still shows the state from before`,
    fix: 'Look at get_download_status in a moment: it may only be slow. If nothing has changed by then, call this again.',
  })
}

/** States in which the client reports no network use. */
const AT_REST = ['paused', 'failed', 'checking', 'processing']

/** Tells whether nothing is loaded any more. */
export function isAtRest({ paused, downloads }: Snapshot): boolean {
  return paused || downloads.every(({ state }) => AT_REST.includes(state))
}

/** Tells whether the download is paused; false if it no longer exists. */
export function isPaused({ downloads }: Snapshot, id: string): boolean {
  return downloads.some(one => one.id === id && one.state === 'paused')
}

/** Tells whether the download comes first of those that can be ordered. */
export function isFirst({ downloads }: Snapshot, { id }: Pick<Download, 'id'>): boolean {
  return downloads.find(({ state }) => state !== 'processing')?.id === id
}
