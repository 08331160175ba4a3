import type { Client, Tool } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { sleep } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { decideBackoff } from './backoff.ts'

/** How long a request may take, and what ends it before. */
export interface Bounds {
  /** Milliseconds. */
  timeout: number
  signal: AbortSignal
}

/** All tools of a server, freshly listed. */
export async function readTools(client: Client, bounds: Bounds): Promise<Tool[]> {
  if (!client.getServerCapabilities()?.tools) return []
  const { tools } = await client.listTools(undefined, { cacheMode: 'refresh', ...bounds })
  return tools
}

export interface SubscriptionDeps {
  clock: Clock
  random: () => number
  log: Log
  /** Ends the subscription. */
  signal: AbortSignal
  /** Of the requests that subscribe. */
  bounds: Bounds
  onListChanged: (client: Client) => void
  onEvents: () => void
}

/**
 * Subscribes to a server's changes in the way of its era: of its tools, and of its events' resource where it offers
 * one. Returns that resource's address.
 */
export async function keepSubscribed(client: Client, deps: SubscriptionDeps): Promise<string | undefined> {
  const capabilities = client.getServerCapabilities()
  const eventsUri = capabilities?.resources ? await findEvents(client, deps) : undefined
  const tools = capabilities?.tools?.listChanged === true
  if (client.getProtocolEra() === 'modern') {
    if (tools || eventsUri) void listenForEver(client, eventsUri, deps)
  } else if (eventsUri && capabilities?.resources?.subscribe) {
    await client.subscribeResource({ uri: eventsUri }, deps.bounds)
  }
  return eventsUri
}

/** A server whose resources cannot be listed still has tools. */
async function findEvents(client: Client, { bounds, log }: SubscriptionDeps): Promise<string | undefined> {
  try {
    const { resources } = await client.listResources(undefined, { cacheMode: 'refresh', ...bounds })
    return resources.find(resource => resource.uri.startsWith('events://'))?.uri
  } catch (error) {
    bounds.signal.throwIfAborted()
    log.warn('resources_not_listed', { error })
    return undefined
  }
}

/** A listen stream that drops is opened again with back-off; what was missed meanwhile is read. */
async function listenForEver(client: Client, eventsUri: string | undefined, deps: SubscriptionDeps) {
  let tries = 0
  while (!deps.signal.aborted && client.transport) {
    try {
      const stream = await client.listen({
        toolsListChanged: true,
        ...(eventsUri ? { resourceSubscriptions: [eventsUri] } : {}),
      })
      if (tries > 0) {
        deps.onListChanged(client)
        if (eventsUri) deps.onEvents()
      }
      tries = 0
      if ((await stream.closed) === 'local') return
    } catch (error) {
      deps.log.debug('listen_failed', { error })
      // Where the server itself is gone, this finds out.
      deps.onListChanged(client)
    }
    tries++
    const ended = await sleep(deps.clock, decideBackoff(tries, deps.random), deps.signal).then(
      () => false,
      () => true,
    )
    if (ended) return
  }
}
