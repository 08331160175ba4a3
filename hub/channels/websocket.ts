import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { type ChatMessage, type ClientFrame, clientFrame, type HubFrame } from '../../schemas/chat.ts'
import type { Clock } from '../core/clock.ts'
import { toPublicError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import type { Log } from '../core/log.ts'
import type { Signals } from '../core/signals.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

const LARGEST_FRAME = 1024 * 1024
/** A client that reads nothing is let go before the hub's memory fills; it comes back with `after`. */
const MOST_BUFFERED = 16 * 1024 * 1024
const PROTOCOL = 'superbloom.v1'

export interface WebSocketDeps {
  clock: Clock
  log: Log
  signals: Signals
  /** Throws where the request may not come in. */
  admit: (request: IncomingMessage) => { token: string }
  /** Whether a source may send one more frame now. */
  createLimit: () => (now: number) => boolean
  welcome: () => Promise<Extract<HubFrame, { type: 'welcome' }>>
  postMessage: (message: {
    conversation: string
    text: string
    author: string
    token: string
    clientId?: string | undefined
  }) => Promise<ChatMessage>
  readMessages: (conversation: string, after: number, limit: number) => Promise<ChatMessage[]>
  lastSeq: (conversation: string) => Promise<number>
}

/** Chat at `/ws` of the server. Disposing closes every socket. */
export function attachWebSocket(server: Server, deps: WebSocketDeps): AsyncDisposable {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_FRAME,
    handleProtocols: protocols => (protocols.has(PROTOCOL) ? PROTOCOL : false),
  })
  server.on('upgrade', (request, socket, head) => {
    if (request.url?.split('?')[0] !== '/ws') {
      return refuse(socket, {
        code: 'not_found',
        message: 'There is no WebSocket here; chat is at /ws',
        status: 404,
      })
    }
    try {
      const caller = deps.admit(request)
      sockets.handleUpgrade(request, socket, head, ws => serve(ws, caller, deps))
    } catch (error) {
      refuse(socket, toPublicError(error))
    }
  })
  return {
    async [Symbol.asyncDispose]() {
      for (const ws of sockets.clients) ws.close(1001, 'The hub is stopping')
      for (const ws of sockets.clients) ws.terminate()
      const closed = Promise.withResolvers<void>()
      sockets.close(() => closed.resolve())
      await closed.promise
    },
  }
}

function refuse(socket: Duplex, error: { code: string; message: string; status: number }): void {
  const body = JSON.stringify({ error: { code: error.code, message: error.message } })
  socket.end(
    `HTTP/1.1 ${error.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function serve(ws: WebSocket, caller: { token: string }, deps: WebSocketDeps): void {
  const send = (frame: HubFrame) => {
    if (ws.bufferedAmount > MOST_BUFFERED) return ws.terminate()
    if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(frame))
  }
  const subscriptions = createSubscriptions({ ...deps, send })
  const unsubscribe = listen(deps, subscriptions, send)
  const mayPass = deps.createLimit()
  // Frames are handled one after the other, so that answers keep the order of the questions.
  let turn: Promise<void> = deps.welcome().then(send)
  const answer = async (data: Buffer) => {
    if (!mayPass(deps.clock.monotonic())) {
      return send({ type: 'error', code: 'rate_limited', message: 'Too many frames at once; slow down.' })
    }
    const parsed = parseFrame(data.toString('utf8'))
    if ('problem' in parsed) return send(parsed.problem)
    await handle(parsed.frame, { caller, deps, send, subscriptions })
  }
  ws.on('message', data => {
    turn = turn
      .then(() => answer(data as Buffer))
      .catch(error => {
        const { code, message } = toPublicError(error)
        if (code === 'internal') deps.log.error('frame_failed', { error })
        send({ type: 'error', code, message })
      })
  })
  ws.on('error', error => deps.log.debug('socket_error', { error }))
  ws.on('close', () => {
    unsubscribe()
    subscriptions.clear()
  })
}

function listen(
  deps: WebSocketDeps,
  subscriptions: Subscriptions,
  send: (frame: HubFrame) => void,
): () => void {
  const offs = [
    deps.signals.on('message', message => subscriptions.onMessage(message)),
    deps.signals.on('delta', delta => {
      if (subscriptions.has(delta.conversation)) send({ type: 'delta', ...delta })
    }),
    deps.signals.on('tool', tool => {
      if (subscriptions.has(tool.conversation)) send({ type: 'tool', ...tool })
    }),
    deps.signals.on('agent', agent => send({ type: 'agent', ...agent })),
  ]
  return () => {
    for (const off of offs) off()
  }
}

interface Handling {
  caller: { token: string }
  deps: WebSocketDeps
  send: (frame: HubFrame) => void
  subscriptions: Subscriptions
}

async function handle(frame: ClientFrame, { caller, deps, send, subscriptions }: Handling): Promise<void> {
  switch (frame.type) {
    case 'ping':
      return send({ type: 'pong' })
    case 'subscribe':
      return subscriptions.add(frame.conversation, frame.after)
    case 'message': {
      const { conversation, text, clientId } = frame
      try {
        const message = await deps.postMessage({
          conversation,
          text,
          clientId,
          author: caller.token,
          token: caller.token,
        })
        send({ type: 'accepted', ...(clientId === undefined ? {} : { clientId }), message })
      } catch (error) {
        const { code, message } = toPublicError(error)
        if (code === 'internal') deps.log.error('message_failed', { error })
        send({ type: 'error', code, message, ...(clientId === undefined ? {} : { clientId }) })
      }
      return
    }
    default:
      frame satisfies never
  }
}

function parseFrame(
  text: string,
): { frame: ClientFrame } | { problem: Extract<HubFrame, { type: 'error' }> } {
  const value = parseJson(text)
  const clientId =
    typeof value === 'object' && value !== null && 'clientId' in value && typeof value.clientId === 'string'
      ? { clientId: value.clientId }
      : {}
  if (value === undefined) {
    return { problem: { type: 'error', code: 'bad_request', message: 'The frame is not JSON.' } }
  }
  const parsed = clientFrame.safeParse(value)
  if (parsed.success) return { frame: parsed.data }
  return {
    problem: { type: 'error', code: 'bad_request', message: z.prettifyError(parsed.error), ...clientId },
  }
}
