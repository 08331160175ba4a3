import type { Client, McpSubscription, ServerCapabilities } from '@modelcontextprotocol/client'
import { decideBackoff } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { sleep } from '../core/clock.ts'
import type { JsonObject } from '../core/forwarding.ts'
import type { Log } from '../core/log.ts'
import { WAITS } from './restarts.ts'

export interface SubscriptionDeps {
  clock: Clock
  random: () => number
  log: Log
  capabilities: ServerCapabilities
  /** Ends all subscriptions when it aborts. */
  signal: AbortSignal
  request: (method: string, params: JsonObject) => Promise<void>
  /** Called when a stream broke: notifications may be missed, or the server itself may be gone. */
  onBroken: () => void
}

type Listening = Pick<Client, 'getProtocolEra' | 'listen' | 'transport'>

/** Subscribes to changes of the server's lists, and of the wanted resources. */
export interface Subscriptions {
  readonly wanted: ReadonlySet<string>
  want(uris: ReadonlySet<string>): void
  /** Resolves when the server answered the request for what is wanted now, or could not. Never rejects. */
  readonly inForce: Promise<void>
  /** Starts to listen. */
  begin(): void
}

/** Creates subscriptions: since 2026-07-28 one stream for everything, before a request for each resource. */
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
  /** Grows with each change of `wanted`; a stream that was opened for an earlier version is replaced. */
  let version = 0
  /** Pending until the stream for the current version is answered. */
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
  /** Opens a stream, and opens it again with back-off when it drops. */
  const listen = async (own: number) => {
    let tries = 0
    while (!deps.signal.aborted && client.transport && own === version) {
      try {
        const stream = await client.listen(filter())
        // The answer for an older version may come after that for the newer one.
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
        // `onBroken` finds out whether the server itself is gone.
        deps.onBroken()
        if (own === version) settle()
      }
      tries++
      await sleep(deps.clock, decideBackoff(tries, WAITS, deps.random), deps.signal).catch(() => undefined)
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
