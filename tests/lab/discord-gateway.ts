import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { createRecord } from '../support/until.ts'

const DISPATCH = 0
const HEARTBEAT = 1
const IDENTIFY = 2
const RESUME = 6
const INVALID_SESSION = 9
const HELLO = 10
const HEARTBEAT_ACK = 11
const MESSAGE_CONTENT = 1 << 15
/** Milliseconds: far above what a test takes. */
const HEARTBEAT_MS = 41_250

interface Packet {
  op: number
  d: { token?: string; intents?: number; session_id?: string; seq?: number } | number | null
}

export interface GatewayRules {
  token: string
  /** Whether the intent MESSAGE CONTENT is switched on for the application. */
  mayReadContent: () => boolean
  url: () => string
  /** What follows READY. */
  guild: () => object
  ready: object
}

/** Discord's gateway: hello, identify, ready, heartbeat, dispatch, and resume with what was missed. */
export function startGateway(server: Server, rules: GatewayRules) {
  const sockets = new WebSocketServer({ server })
  const events: { t: string; d: unknown }[] = []
  const seen = createRecord<'identified' | 'resumed' | 'refused'>()
  let session = 0
  let live: WebSocket | undefined
  const send = (socket: WebSocket, index: number) => {
    const event = events[index]
    if (event) socket.send(JSON.stringify({ op: DISPATCH, s: index + 1, ...event }))
  }
  const dispatch = (t: string, d: unknown) => {
    events.push({ t, d })
    if (live) send(live, events.length - 1)
  }
  const refuse = (socket: WebSocket, code: number) => {
    seen.add('refused')
    socket.close(code)
  }
  const identify = (socket: WebSocket, { token, intents = 0 }: { token?: string; intents?: number }) => {
    if (token !== rules.token) return refuse(socket, 4004)
    if ((intents & MESSAGE_CONTENT) !== 0 && !rules.mayReadContent()) return refuse(socket, 4014)
    session++
    // A new session gets nothing of what was before it.
    events.length = 0
    live = socket
    const place = { session_id: `session-${session}`, resume_gateway_url: rules.url() }
    dispatch('READY', { v: 10, ...rules.ready, ...place })
    dispatch('GUILD_CREATE', rules.guild())
    seen.add('identified')
  }
  const resume = (socket: WebSocket, { session_id, seq = 0 }: { session_id?: string; seq?: number }) => {
    if (session_id !== `session-${session}`)
      return socket.send(JSON.stringify({ op: INVALID_SESSION, d: false }))
    live = socket
    for (let index = seq; index < events.length; index++) send(socket, index)
    dispatch('RESUMED', {})
    seen.add('resumed')
  }
  sockets.on('connection', socket => {
    socket.send(JSON.stringify({ op: HELLO, d: { heartbeat_interval: HEARTBEAT_MS } }))
    socket.on('message', data => {
      const { op, d } = JSON.parse(String(data)) as Packet
      if (op === HEARTBEAT) socket.send(JSON.stringify({ op: HEARTBEAT_ACK }))
      if (typeof d !== 'object' || d === null) return
      if (op === IDENTIFY) identify(socket, d)
      if (op === RESUME) resume(socket, d)
    })
    socket.on('close', () => {
      if (live === socket) live = undefined
    })
  })
  return {
    seen,
    dispatch,
    /** Ends the connection; the client may resume. */
    drop() {
      live?.close(4000)
      live = undefined
    },
    /** Forgets the session: a resume is refused. */
    forget() {
      session++
    },
    close() {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}
