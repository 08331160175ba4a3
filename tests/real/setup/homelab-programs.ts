import { keepRunning } from '../../../hub/demo/machine.ts'
import { createFixtureHost, type FixtureHost } from '../../../servers/metrics/machine/fixture-host.ts'
import { type RealNtfy, startRealNtfy } from './ntfy.ts'
import { SABNZBD_KEY, startSabnzbd } from './sabnzbd.ts'
import { toPost } from './usenet.ts'

/** SABnzbd's answer about its queue. */
export interface SabnzbdQueue {
  paused: boolean
  /** Time until it resumes by itself: "0" or "29:59". */
  pause_int: string
  slots: { filename: string; status: string }[]
}

/** Real programs of a homelab: SABnzbd with two downloads and an ntfy; the machine is recorded. */
export interface HomelabPrograms extends AsyncDisposable {
  readonly host: FixtureHost
  readonly ntfy: RealNtfy
  readonly sabnzbdUrl: string
  sabnzbd(): Promise<SabnzbdQueue>
  resumeSabnzbd(): Promise<void>
  /** Returns the messages in a topic that ntfy kept, oldest first. */
  published(topic: string): Promise<string[]>
}

/** Starts them, by default on loopback. */
export async function startHomelabPrograms(listens: { address?: string } = {}): Promise<HomelabPrograms> {
  await using opened = new AsyncDisposableStack()
  const { url: sabnzbdUrl } = opened.use(await startSabnzbd(listens))
  const ask = (query: string, init?: RequestInit) =>
    fetch(`${sabnzbdUrl}/api?apikey=${SABNZBD_KEY}&output=json&${query}`, init)
  for (const name of ['Sintel.1080p', 'Tears.of.Steel.1080p']) await addDownload(ask, name)
  const ntfy = opened.use(await startRealNtfy(listens))
  const host = opened.use(createFixtureHost())
  opened.use(keepRunning(host))
  const owned = opened.move()
  return {
    host,
    ntfy,
    sabnzbdUrl,
    async sabnzbd() {
      const { queue } = (await (await ask('mode=queue')).json()) as { queue: SabnzbdQueue }
      return queue
    },
    resumeSabnzbd: async () => void (await ask('mode=resume')),
    published: topic => readTopic(`${ntfy.url}/${topic}`, ntfy.tokens.admin),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Ask = (query: string, init?: RequestInit) => Promise<Response>

async function addDownload(ask: Ask, name: string): Promise<void> {
  const { nzb } = toPost(`${name}.mkv`, Buffer.alloc(10_000), name)
  const body = new FormData()
  body.set('name', new Blob([nzb]), `${name}.nzb`)
  const answer = (await (await ask('mode=addfile', { method: 'POST', body })).json()) as { status: boolean }
  if (!answer.status) throw new Error(`SABnzbd does not take ${name}: ${JSON.stringify(answer)}`)
}

async function readTopic(url: string, token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/json?poll=1&since=all`, { headers })
  const lines = await answer.text()
  if (!answer.ok) throw new Error(`ntfy answered ${answer.status}: ${lines}`)
  const events = lines.split('\n').flatMap(line => (line === '' ? [] : JSON.parse(line)))
  return (events as { event: string; message: string }[])
    .filter(({ event }) => event === 'message')
    .map(({ message }) => message)
}
