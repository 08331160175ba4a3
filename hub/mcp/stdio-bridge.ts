import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkHttpError,
  type StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError } from '../core/errors.ts'
import { whyHeldBack, withoutHeldBack } from './held-back.ts'
import { type HubAddress, openHubSession } from './hub-session.ts'
import { NotesRead } from './notes-read.ts'

export interface BridgeDeps {
  clock: Clock
  /** The client's side. */
  client: Transport
  /** Throws where no hub runs. */
  findHub: () => HubAddress
  log: (line: string) => void
}

const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603
/** How long the hub may take to hear that the client left. */
const GOODBYE_MS = 1_000

type Hub = StreamableHTTPClientTransport

/**
 * Carries MCP messages of either era between a client on stdio and a hub's HTTP endpoint, as they are. When the hub
 * was restarted, a legacy client's session is opened anew without the client noticing. Ends when the client does.
 */
export class StdioBridge {
  readonly #deps: BridgeDeps
  readonly #running = new Map<JSONRPCRequest['id'], AbortController>()
  readonly #ended = Promise.withResolvers<void>()
  /** Every hub that was talked to: a stream of an earlier one may still be open. */
  readonly #hubs = new Set<Hub>()
  #hub: Promise<Hub> | undefined
  #initialize: JSONRPCRequest | undefined
  readonly #notesRead: NotesRead
  #sending: Promise<void> = Promise.resolve()
  #left = false

  constructor(deps: BridgeDeps) {
    this.#deps = deps
    this.#notesRead = new NotesRead(deps.clock, message => deps.client.send(message))
  }

  /** Resolves when the client has gone and the hub knows. */
  async run(): Promise<void> {
    const { client, clock, log } = this.#deps
    client.onmessage = message => void this.#forward(message)
    client.onclose = () => this.#ended.resolve()
    await client.start()
    await this.#ended.promise
    this.#left = true
    this.#notesRead.giveUp()
    for (const abort of this.#running.values()) abort.abort()
    const goodbye = this.#hub?.then(hub => hub.terminateSession()).catch(error => log(describeError(error)))
    const over = new AbortController()
    await Promise.race([goodbye, sleep(clock, GOODBYE_MS, over.signal)])
    over.abort()
    for (const hub of this.#hubs) await hub.close()
  }

  /** Never rejects: what went wrong is the answer. */
  async #forward(message: JSONRPCMessage): Promise<void> {
    if (this.#notesRead.take(message)) return
    const heldBack = whyHeldBack(message)
    if (heldBack !== undefined && isJSONRPCRequest(message)) return this.#refuse(message, heldBack)
    if (isInitializeRequest(message)) {
      this.#initialize = message as JSONRPCRequest
      this.#notesRead.canAsk()
    }
    const cancelled = cancelledBy(message)
    try {
      // A modern request is cancelled over HTTP by closing its stream, a legacy one by the notification.
      if (cancelled === undefined || this.#initialize) await this.#send(message)
    } catch (error) {
      if (this.#left) return
      this.#deps.log(describeError(error))
      if (isJSONRPCRequest(message)) await this.#answerError(message, error)
    }
    if (cancelled !== undefined) this.#take(cancelled)?.abort()
  }

  async #send(message: JSONRPCMessage, isRepeated = false): Promise<void> {
    this.#hub ??= this.#open(message)
    const opening = this.#hub
    let hub: Hub | undefined
    try {
      hub = await opening
      if (!isJSONRPCRequest(message)) return await hub.send(message)
      const abort = new AbortController()
      this.#running.set(message.id, abort)
      await hub.send(message, {
        requestSignal: abort.signal,
        onRequestStreamEnd: () => void this.#onStreamEnd(message),
      })
    } catch (error) {
      const isGone = neverArrived(error)
      // Only who finds it gone first opens another: the others' messages go to that one.
      if ((isGone || !hub) && this.#hub === opening) this.#hub = undefined
      if (!isGone || isRepeated) throw error
      await this.#send(message, true)
    }
  }

  async #open(first: JSONRPCMessage): Promise<Hub> {
    const { findHub, log, client } = this.#deps
    const hub = await openHubSession(findHub(), isInitializeRequest(first) ? undefined : this.#initialize)
    hub.onmessage = message => this.#toClient(hub, message)
    hub.onerror = error => log(describeError(error))
    const wasThereBefore = this.#hubs.size > 0
    this.#hubs.add(hub)
    if (wasThereBefore && this.#initialize) {
      await client.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    }
    return hub
  }

  #toClient(hub: Hub, message: JSONRPCMessage): void {
    const id = 'id' in message && !('method' in message) ? message.id : undefined
    if (id !== undefined && this.#take(id) === undefined) return
    const result = 'result' in message ? message.result : undefined
    if (id !== undefined && id === this.#initialize?.id && typeof result?.['protocolVersion'] === 'string') {
      hub.setProtocolVersion(result['protocolVersion'])
    }
    this.#write(withoutHeldBack(message))
  }

  #refuse({ id }: JSONRPCRequest, message: string): void {
    this.#write({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message } })
  }

  async #onStreamEnd(request: JSONRPCRequest): Promise<void> {
    if (!this.#running.has(request.id)) return
    await this.#answerError(request, new Error('The hub went away while it worked on this'))
  }

  async #answerError(request: JSONRPCRequest, error: unknown): Promise<void> {
    this.#take(request.id)
    const message = `The hub did not answer: ${describeError(error)}`
    this.#write({ jsonrpc: '2.0', id: request.id, error: { code: INTERNAL_ERROR, message } })
  }

  /** The running request of this id, which counts as answered from now on. */
  #take(id: JSONRPCRequest['id']): AbortController | undefined {
    const abort = this.#running.get(id)
    this.#running.delete(id)
    return abort
  }

  #write(message: JSONRPCMessage): void {
    const { client, log } = this.#deps
    this.#sending = this.#sending
      .then(() => this.#notesRead.before(message))
      .then(() => client.send(message))
      .catch(error => {
        if (!this.#left) log(`The client did not take a message: ${describeError(error)}`)
      })
  }
}

function cancelledBy(message: JSONRPCMessage): JSONRPCRequest['id'] | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.['requestId']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/** Whether the hub surely did nothing about it: it refused token or session, or nobody was there to take it. */
function neverArrived(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 404
  const cause = error instanceof TypeError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
