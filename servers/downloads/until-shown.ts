import { type Clock, sleep } from '../kit/clock.ts'
import { ToolFailure } from '../kit/failure.ts'
import type { NamedClient } from './clients/clients.ts'
import type { Download, Snapshot } from './download.ts'

/** Milliseconds between two looks. Together they are more than qBittorrent takes, which tells a change two seconds late. */
const STEP = 250
const LOOKS = 20
/** A change that may be dropped is asked for again after so many looks. */
const AGAIN_AFTER = 4

export interface Waiting {
  client: NamedClient
  clock: Clock
  signal: AbortSignal
}

/**
 * Whether the client shows a change that it was asked for, within five seconds: what is read next then agrees with what
 * was done. `again` asks once more; with it the change must be shown twice in a row, since Transmission drops a start
 * while a stop is under way and shows the torrent as running meanwhile.
 */
export async function isShownSoon(
  { client, clock, signal }: Waiting,
  isShown: (snapshot: Snapshot) => boolean,
  again?: () => Promise<void>,
): Promise<boolean> {
  let shown = 0
  for (let look = 1; look <= LOOKS; look++) {
    if (look > 1) await sleep(clock, STEP, signal)
    const snapshot = await lookQuietly(client, signal)
    if (!snapshot) return false
    shown = isShown(snapshot) ? shown + 1 : 0
    if (shown === (again ? 2 : 1)) return true
    if (again && shown === 0 && look % AGAIN_AFTER === 0) await again()
  }
  return false
}

/** The change was made before, so a client that went away in between does not make it fail. */
async function lookQuietly({ client }: NamedClient, signal: AbortSignal): Promise<Snapshot | undefined> {
  return client.look(signal).catch(() => {
    signal.throwIfAborted()
    return undefined
  })
}

/** The same, with a failure where the client does not show it. `change` goes on from "does not show that". */
export async function requireShown(
  waiting: Waiting,
  change: string,
  isShown: (snapshot: Snapshot) => boolean,
  again?: () => Promise<void>,
): Promise<void> {
  if (await isShownSoon(waiting, isShown, again)) return
  const { title, address } = waiting.client.client
  throw new ToolFailure({
    what: `${title} does not show that ${change}.`,
    where: address,
    why: `it took the request, but ${(STEP * LOOKS) / 1000} s later it still shows the state from before`,
    fix: 'Look at get_download_status in a moment: it may only be slow. If nothing has changed by then, call this again.',
  })
}

/** What has no business with the network just now, as far as its client tells. */
const AT_REST = ['paused', 'failed', 'checking', 'processing']

/** Whether nothing is loaded any more. */
export function isAtRest({ paused, downloads }: Snapshot): boolean {
  return paused || downloads.every(({ state }) => AT_REST.includes(state))
}

/** Whether the download is held; one that is not there any more is not. */
export function isPaused({ downloads }: Snapshot, id: string): boolean {
  return downloads.some(one => one.id === id && one.state === 'paused')
}

/** Whether the download comes first of those that can be put in order. */
export function isFirst({ downloads }: Snapshot, { id }: Pick<Download, 'id'>): boolean {
  return downloads.find(({ state }) => state !== 'processing')?.id === id
}
