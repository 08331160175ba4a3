import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResultResponse } from '@modelcontextprotocol/client'
import { isObject } from '../core/forwarding.ts'
import type { Reopening } from './hub-session.ts'

const LISTS = ['tools', 'resources', 'prompts']

/** Remembers a legacy client's session, so that another one can stand in for it. */
export class SessionMemory {
  #initialize: JSONRPCRequest | undefined
  readonly #subscribed = new Set<string>()
  #level: unknown
  #repeated = 0

  /** The client's first request; undefined for a client of 2026-07-28. */
  get initialize(): JSONRPCRequest | undefined {
    return this.#initialize
  }

  /** Starts a session, with nothing asked for yet. */
  begin(initialize: JSONRPCRequest): void {
    this.#initialize = initialize
    this.#subscribed.clear()
    this.#level = undefined
  }

  /** Records a request that the hub fulfilled. */
  done({ method, params }: JSONRPCRequest): void {
    const uri = params?.['uri']
    if (method === 'resources/subscribe' && typeof uri === 'string') this.#subscribed.add(uri)
    if (method === 'resources/unsubscribe' && typeof uri === 'string') this.#subscribed.delete(uri)
    if (method === 'logging/setLevel') this.#level = params?.['level']
  }

  /** Returns the requests that reopen the session; undefined if the client never began one. */
  toReopen(): Reopening | undefined {
    if (!this.#initialize) return undefined
    const requests = [...this.#subscribed].map(uri => this.#repeat('resources/subscribe', { uri }))
    if (this.#level !== undefined) requests.push(this.#repeat('logging/setLevel', { level: this.#level }))
    return { initialize: this.#initialize, requests }
  }

  /** Returns what may have changed between the two sessions, by the answer to `initialize` in the new one. */
  toNews({ capabilities }: JSONRPCResultResponse['result']): JSONRPCNotification[] {
    const tellsOf = (list: string) =>
      isObject(capabilities) && isObject(capabilities[list]) && capabilities[list]['listChanged'] === true
    const lists = LISTS.filter(tellsOf).map(list => ({ method: `notifications/${list}/list_changed` }))
    const updates = [...this.#subscribed].map(uri => ({
      method: 'notifications/resources/updated',
      params: { uri },
    }))
    return [...lists, ...updates].map(news => ({ jsonrpc: '2.0', ...news }))
  }

  #repeat(method: string, params: Record<string, unknown>): JSONRPCRequest {
    return { jsonrpc: '2.0', id: `superbloom-again-${++this.#repeated}`, method, params }
  }
}
