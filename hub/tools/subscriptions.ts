import type { Client, McpSubscription, ServerCapabilities } from '@modelcontextprotocol/client'
import type { Clock } from '../core/clock.ts'
import { sleep } from '../core/clock.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { decideBackoff } from './backoff.ts'

export interface SubscriptionDeps {
  clock: Clock
  random: () => number
  log: Log
  capabilities: ServerCapabilities
  /** Ends everything. */
  signal: AbortSignal
  request: (method: string, params: JsonObject) => Promise<void>
  /** A stream broke: what it would have told may be missed, or the server itself may be gone. */
  onBroken: () => void
}

type Listening = Pick<Client, 'getProtocolEra' | 'listen' | 'transport'>

/** What a connection is told of: changes of the server's lists, and of the resources that somebody wants. */
export interface Subscriptions {
  readonly wanted: ReadonlySet<string>
  want(uris: ReadonlySet<string>): void
  /** Resolves when the server was asked for all that is wanted now, and has answered or could not. Never rejects. */
  readonly inForce: Promise<void>
  /** Listens from now on. */
  begin(): void
}

/** In the way of the server's era: one stream for everything since 2026-07-28, a request for each resource before. */
export function createSubscriptions(client: Listening, deps: SubscriptionDeps): Subscriptions {
  return client.getProtocolEra() === 'modern' ? listenTo(client, deps) : subscribeEach(deps)
}

function subscribeEach({ capabilities, request, log, signal }: SubscriptionDeps): Subscriptions {
  let wanted: ReadonlySet<string> = new Set()
  let turn: Promise<void> = Promise.resolve()
  const send = (method: string, uri: string) => {
    turn = turn
      .then(() => (signal.aborted ? undefined : request(method, { uri })))
      .catch(error => log.warn('not_subscribed', { method, uri, error }))
  }
  return {
    get wanted() {
      return wanted
    },
    want(uris) {
      const before = wanted
      wanted = new Set(uris)
      if (!capabilities.resources?.subscribe) return
      for (const uri of before) if (!wanted.has(uri)) send('resources/unsubscribe', uri)
      for (const uri of wanted) if (!before.has(uri)) send('resources/subscribe', uri)
    },
    get inForce() {
      return turn
    },
    begin: () => undefined,
  }
}

function listenTo(client: Listening, deps: SubscriptionDeps): Subscriptions {
  const { capabilities } = deps
  let wanted: ReadonlySet<string> = new Set()
  let open: McpSubscription | undefined
  let begun = false
  /** Grows with each change of what is wanted: a stream that was opened for less is replaced. */
  let version = 0
  /** Until the stream for what is wanted now is answered. */
  let asked: PromiseWithResolvers<void> | undefined

  const settle = () => {
    asked?.resolve()
    asked = undefined
  }
  const filter = () => ({
    ...(capabilities.tools?.listChanged ? { toolsListChanged: true } : {}),
    ...(capabilities.resources?.listChanged ? { resourcesListChanged: true } : {}),
    ...(capabilities.prompts?.listChanged ? { promptsListChanged: true } : {}),
    ...(wanted.size > 0 && capabilities.resources?.subscribe ? { resourceSubscriptions: [...wanted] } : {}),
  })
  /** A stream that drops is opened again with back-off. */
  const listen = async (own: number) => {
    let tries = 0
    while (!deps.signal.aborted && client.transport && own === version) {
      try {
        const stream = await client.listen(filter())
        // Of two that were asked for at once, the answer to the older may come last.
        if (own !== version) return await stream.close()
        const before = open
        open = stream
        settle()
        await before?.close()
        if (tries > 0) deps.onBroken()
        tries = 0
        if ((await stream.closed) === 'local') return
      } catch (error) {
        deps.log.debug('listen_failed', { error })
        // Where the server itself is gone, this finds out.
        deps.onBroken()
        if (own === version) settle()
      }
      tries++
      await sleep(deps.clock, decideBackoff(tries, deps.random), deps.signal).catch(() => undefined)
    }
  }
  const renew = () => {
    version++
    if (begun && Object.keys(filter()).length > 0) {
      asked ??= Promise.withResolvers()
      void listen(version)
      return
    }
    settle()
    open?.close().catch(error => deps.log.debug('listen_not_ended', { error }))
  }
  return {
    get wanted() {
      return wanted
    },
    want(uris) {
      if (uris.size === wanted.size && [...uris].every(uri => wanted.has(uri))) return
      wanted = new Set(uris)
      renew()
    },
    get inForce() {
      return asked?.promise ?? Promise.resolve()
    },
    begin() {
      begun = true
      renew()
    },
  }
}
