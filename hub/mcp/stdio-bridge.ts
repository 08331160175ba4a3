import {
  isInitializeRequest,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { describeError } from '../core/errors.ts'

/** Where the hub is now; it may have another address after a restart. */
export interface HubAddress {
  url: string
  token: string
}

export interface BridgeDeps {
  /** The client's side. */
  client: Transport
  /** Throws where no hub runs. */
  findHub: () => HubAddress
  log: (line: string) => void
}

const INTERNAL_ERROR = -32_603

/**
 * Carries MCP messages of either era between a client on stdio and a hub's HTTP endpoint, as they are. When the hub
 * was restarted, a legacy client's session is opened anew without the client noticing. Ends when the client does.
 */
export class StdioBridge {
  readonly #deps: BridgeDeps
  readonly #running = new Map<JSONRPCRequest['id'], AbortController>()
  readonly #ended = Promise.withResolvers<void>()
  #hub: StreamableHTTPClientTransport | undefined
  #initialize: JSONRPCRequest | undefined

  constructor(deps: BridgeDeps) {
    this.#deps = deps
  }

  /** Resolves when the client has gone. */
  async run(): Promise<void> {
    const { client } = this.#deps
    client.onmessage = message => void this.#forward(message)
    client.onclose = () => this.#ended.resolve()
    await client.start()
    await this.#ended.promise
    for (const abort of this.#running.values()) abort.abort()
    await this.#hub?.terminateSession().catch(error => this.#deps.log(describeError(error)))
    await this.#hub?.close()
  }

  async #forward(message: JSONRPCMessage): Promise<void> {
    if (isInitializeRequest(message)) this.#initialize = message as JSONRPCRequest
    if (this.#isCancelOfOpenStream(message)) return
    try {
      await this.#send(message)
    } catch (error) {
      if (await this.#retryOnFreshSession(message, error)) return
      this.#deps.log(describeError(error))
      if (isJSONRPCRequest(message)) await this.#answerError(message, error)
    }
  }

  /** A modern request is cancelled over HTTP by closing its stream; the notification goes on to legacy hubs' sessions. */
  #isCancelOfOpenStream(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/cancelled' || this.#initialize)
      return false
    const id = message.params?.['requestId']
    if (typeof id !== 'string' && typeof id !== 'number') return false
    this.#running.get(id)?.abort()
    return true
  }

  async #send(message: JSONRPCMessage): Promise<void> {
    const hub = this.#hub ?? (await this.#connect())
    if (!isJSONRPCRequest(message)) return hub.send(message)
    const abort = new AbortController()
    this.#running.set(message.id, abort)
    await hub.send(message, {
      requestSignal: abort.signal,
      onRequestStreamEnd: () => void this.#onStreamEnd(message),
    })
  }

  async #onStreamEnd(request: JSONRPCRequest): Promise<void> {
    if (!this.#running.has(request.id)) return
    await this.#answerError(request, new Error('The hub went away while it worked on this'))
  }

  async #connect(): Promise<StreamableHTTPClientTransport> {
    const { url, token } = this.#deps.findHub()
    const hub = new StreamableHTTPClientTransport(new URL('/mcp', url), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    })
    hub.onmessage = message => void this.#toClient(message)
    hub.onerror = error => this.#deps.log(describeError(error))
    await hub.start()
    this.#hub = hub
    return hub
  }

  async #toClient(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message && !('method' in message) ? message.id : undefined
    if (id !== undefined) this.#running.delete(id)
    const result = 'result' in message ? message.result : undefined
    if (id !== undefined && id === this.#initialize?.id && typeof result?.['protocolVersion'] === 'string') {
      this.#hub?.setProtocolVersion(result['protocolVersion'])
    }
    await this.#deps.client.send(message)
  }

  /** After a restart the hub knows the session no more, or listens elsewhere: true where the message got through. */
  async #retryOnFreshSession(message: JSONRPCMessage, error: unknown): Promise<boolean> {
    const sessionGone = error instanceof SdkHttpError && (error.status === 404 || error.status === 400)
    const hubGone = error instanceof TypeError
    if (!sessionGone && !hubGone) return false
    await this.#hub?.close()
    this.#hub = undefined
    try {
      if (this.#initialize && !isInitializeRequest(message)) await this.#initializeAgain(this.#initialize)
      await this.#send(message)
      return true
    } catch (cause) {
      this.#deps.log(describeError(cause))
      return false
    }
  }

  async #initializeAgain(request: JSONRPCRequest): Promise<void> {
    const hub = await this.#connect()
    const answered = Promise.withResolvers<void>()
    const forward = hub.onmessage
    hub.onmessage = message => {
      const result = 'result' in message ? message.result : undefined
      if (typeof result?.['protocolVersion'] === 'string') hub.setProtocolVersion(result['protocolVersion'])
      answered.resolve()
    }
    await hub.send(request)
    await answered.promise
    if (forward) hub.onmessage = forward
    await hub.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  async #answerError(request: JSONRPCRequest, error: unknown): Promise<void> {
    this.#running.delete(request.id)
    const message = `The hub did not answer: ${describeError(error)}`
    await this.#deps.client.send({ jsonrpc: '2.0', id: request.id, error: { code: INTERNAL_ERROR, message } })
  }
}
