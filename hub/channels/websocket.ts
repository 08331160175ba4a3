import type { IncomingMessage, Server } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type ClientFrame, type HubFrame, toStopTarget } from '../../schemas/chat.ts'
import type { Clock } from '../core/clock.ts'
import { HubError, toPublicError } from '../core/errors.ts'
import type { Looks } from '../core/looks.ts'
import { checkUse, may, type Principal, powerOf } from '../core/principal.ts'
import type { DoorAudit } from '../store/door-audit.ts'
import type { Chat } from './chat.ts'
import { createEntryNews, type EntryNews } from './entry-news.ts'
import { keepAlive } from './keep-alive.ts'
import { clientIdOf, LARGEST_FRAME, type Problem, readFrame, TOO_MANY } from './read-frame.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'

/** Bytes of the largest frame that still gets an error; a larger one ends the socket (close code 1009). */
const LARGEST_READ = 4 * LARGEST_FRAME
/** Bytes that may wait for a client: a slower one is closed, to spare memory, and comes back with `after`. */
const MOST_BUFFERED = 16 * 1024 * 1024
/** Frames that may wait for their turn; at this number the socket is not read until some were handled. */
const MOST_WAITING = 64
/** Sockets that may be open at once. */
export const MOST_SOCKETS = 2_000
const PROTOCOL = 'superbloom.v1'
/** Name of this entrance in records. */
const DOOR = '/ws'

/** Close code for a token that opens nothing any more. */
const SIGNED_OUT = 4401

/** State of the hub itself that the owner's page shows. */
const CHANGES = ['servers', 'config', 'modelAnswers', 'schedules'] as const

const TOO_MANY_SOCKETS = `There are ${MOST_SOCKETS} chats open already, the most at once; close one of them.`

export interface WebSocketDeps extends Chat {
  clock: Clock
  /** Times waits for the other side of a socket; a clock that a test moves would not wait for it. */
  networkClock: Pick<Clock, 'after'>
  /** Throws if the request is not admitted. */
  admit: (request: IncomingMessage) => Principal
  /** Notes that the owner looks at a conversation, until the returned function is called. */
  look: Looks['look']
  /** Records what a principal may not do. */
  refuse: DoorAudit['refuse']
  /** Calls `end` once a principal's token opens nothing any more, until the returned function is called. */
  hold: (principal: Principal, end: () => void) => () => void
  /** Creates a limit that tells whether a source may send one more frame now. */
  createLimit: () => (now: number) => boolean
  welcome: (principal: Principal) => Promise<Extract<HubFrame, { type: 'welcome' }>>
  /** Counts the answer to a client that wants a socket. */
  countAnswer: (status: number) => void
}

/** Serves chat at `/ws` of the server. Disposing closes every socket. */
export function attachWebSocket(server: Server | SecureServer, deps: WebSocketDeps): AsyncDisposable {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_READ,
    handleProtocols: protocols => (protocols.has(PROTOCOL) ? PROTOCOL : false),
  })
  const entries = createEntryNews(deps)
  server.on('upgrade', (request, socket, head) => {
    const onError = (error: Error) => deps.log.debug('socket_error', { error })
    socket.on('error', onError)
    const turnAway = (error: { code: string; message: string; status: number }) => {
      deps.countAnswer(error.status)
      refuse(socket, error)
    }
    if (request.url?.split('?')[0] !== '/ws') {
      return turnAway({
        code: 'not_found',
        message: 'There is no WebSocket here; chat is at /ws',
        status: 404,
      })
    }
    try {
      const caller = deps.admit(request)
      if (sockets.clients.size >= MOST_SOCKETS) throw new HubError('unavailable', TOO_MANY_SOCKETS)
      sockets.handleUpgrade(request, socket, head, ws => {
        socket.off('error', onError)
        deps.countAnswer(101)
        serve(ws, caller, { ...deps, entries })
      })
    } catch (error) {
      turnAway(toPublicError(error))
    }
  })
  return {
    async [Symbol.asyncDispose]() {
      for (const ws of sockets.clients) ws.close(1001, 'The hub is stopping')
      for (const ws of sockets.clients) ws.terminate()
      const closed = Promise.withResolvers<void>()
      sockets.close(() => closed.resolve())
      await closed.promise
      entries[Symbol.dispose]()
    },
  }
}

function refuse(socket: Duplex, error: { code: string; message: string; status: number }): void {
  const body = JSON.stringify({ error: { code: error.code, message: error.message } })
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${error.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

type Send = (frame: HubFrame) => void
type SocketDeps = WebSocketDeps & { entries: EntryNews }

function serve(ws: WebSocket, caller: Principal, deps: SocketDeps): void {
  const send: Send = frame => {
    if (ws.bufferedAmount > MOST_BUFFERED) return ws.terminate()
    if (ws.readyState === ws.OPEN) ws.send(JSON.stringify(frame))
  }
  const subscriptions = createSubscriptions({ ...deps, send })
  const unsubscribe = listen(deps, { caller, subscriptions, send })
  const release = deps.hold(caller, () => ws.close(SIGNED_OUT, 'The token was revoked or has expired'))
  const stopPings = keepAlive(ws, deps.networkClock)
  const report = (error: unknown, frame?: ClientFrame) => {
    const { code, message, status } = toPublicError(error)
    if (status >= 500) deps.log.error('frame_failed', { error })
    deps.signals.emit('frameRefused', { code })
    const refused = frame && toRefused(frame, code)
    if (refused) deps.refuse({ ...refused, actor: caller.name, role: caller.role, door: DOOR })
    send({ type: 'error', code, message, ...clientIdOf(frame) })
  }
  const complain = ({ problem }: Problem) => {
    deps.signals.emit('frameRefused', { code: problem.code })
    send(problem)
  }
  let lookAway: (() => void) | undefined
  const lookAt = (conversation: string | null) => {
    lookAway?.()
    lookAway = conversation !== null && caller.role === 'owner' ? deps.look(conversation) : undefined
  }
  const mayPass = deps.createLimit()
  // Frames are handled one after the other, so that answers keep the order of the questions.
  let turn: Promise<void> = deps.welcome(caller).then(send).catch(report)
  let waiting = 0
  ws.on('message', data => {
    const frame = mayPass(deps.clock.monotonic()) ? readFrame(data as Buffer) : TOO_MANY
    if (++waiting >= MOST_WAITING) ws.pause()
    turn = turn
      .then(() =>
        'problem' in frame ? complain(frame) : handle(frame, { caller, deps, send, subscriptions, lookAt }),
      )
      .catch(error => report(error, 'frame' in frame ? frame.frame : undefined))
      .finally(() => {
        if (--waiting < MOST_WAITING) ws.resume()
      })
  })
  ws.on('error', error => deps.log.debug('socket_error', { error }))
  ws.on('close', () => {
    stopPings()
    unsubscribe()
    release()
    lookAway?.()
    subscriptions.clear()
  })
}

function listen(
  deps: SocketDeps,
  { caller, subscriptions, send }: Omit<Handling, 'deps' | 'lookAt'>,
): () => void {
  const isOwners = may(caller, 'records')
  const offs = [
    deps.entries.on(conversation => {
      if (deps.mayUse(caller, conversation.id)) send({ type: 'conversation', conversation })
    }),
    deps.signals.on('message', subscriptions.onMessage),
    deps.signals.on('forgotten', ({ conversation }) => subscriptions.onForgotten(conversation)),
    deps.signals.on('delta', delta => {
      if (subscriptions.has(delta.conversation)) send({ type: 'delta', ...delta })
    }),
    deps.signals.on('tool', tool => {
      if (subscriptions.has(tool.conversation)) send({ type: 'tool', ...tool })
    }),
    deps.signals.on('agent', agent => {
      if (isOwners || deps.mayUse(caller, `${agent.name}/${caller.name}`)) send({ type: 'agent', ...agent })
    }),
    deps.signals.on('approval', approval => {
      const { conversation } = approval
      const isSeen = isOwners || (conversation !== undefined && deps.mayUse(caller, conversation))
      if (isSeen) send({ type: 'approval', approval })
    }),
    ...(isOwners ? CHANGES.map(name => deps.signals.on(name, () => send({ type: 'changed' }))) : []),
  ]
  return () => {
    for (const off of offs) off()
  }
}

interface Handling {
  caller: Principal
  deps: WebSocketDeps
  send: Send
  subscriptions: Subscriptions
  lookAt: (conversation: string | null) => void
}

async function handle(
  { frame }: { frame: ClientFrame },
  { caller, deps, send, subscriptions, lookAt }: Handling,
): Promise<void> {
  switch (frame.type) {
    case 'look':
      return lookAt(frame.conversation)
    case 'ping':
      return send({ type: 'pong' })
    case 'subscribe':
      checkUse(deps.mayUse, caller, frame.conversation)
      return subscriptions.add(frame.conversation, frame.after)
    case 'decide': {
      const { approval: id, decision, note, always } = frame
      // A decision reaches everyone as an `approval` frame; an error reaches only the client that decided.
      if (!may(caller, 'decide')) throw new HubError('forbidden', toNoDecision(caller))
      const own = caller.role === 'owner' ? {} : { ofPerson: caller.name }
      await deps.decide({ id, decision, note, always, by: caller.name, where: DOOR, ...own })
      return
    }
    case 'stop': {
      const target = toStopTarget(frame)
      if (!target) return
      if (!may(caller, 'stop'))
        throw new HubError('forbidden', `Guests stop nothing; ask somebody of the house.`)
      if ('conversation' in target) checkUse(deps.mayUse, caller, target.conversation)
      else if (!may(caller, 'records'))
        throw new HubError('forbidden', 'Stop the conversation, not the thread.')
      if ((await deps.stop(target, caller.name)) > 0) return
      return send({
        type: 'error',
        code: 'conflict',
        message: 'Nothing is running; there is nothing to stop.',
      })
    }
    case 'message': {
      const { conversation, text, clientId, images, files, timezone } = frame
      checkUse(deps.mayUse, caller, conversation)
      const message = await deps.postMessage({
        conversation,
        text,
        clientId,
        images,
        files,
        timezone,
        author: caller.name,
        power: powerOf(caller),
        door: DOOR,
      })
      return send({ type: 'accepted', ...clientIdOf(frame), message })
    }
    default:
      frame satisfies never
  }
}

/** Returns the row of a frame that its sender may not send; a decision that comes too late has one too. */
function toRefused(frame: ClientFrame, why: string) {
  if (frame.type === 'ping' || (why !== 'forbidden' && frame.type !== 'decide')) return undefined
  if (frame.type === 'decide')
    return { kind: 'approval', details: { approval: frame.approval, decision: frame.decision, why } } as const
  const { type, conversation } = frame
  const thread = type === 'stop' ? frame.thread : undefined
  return { kind: type === 'stop' ? 'stop' : 'chat', details: { conversation, thread, why } } as const
}

function toNoDecision({ name, role }: Principal): string {
  return `${name} decides nothing: its role is ${role}. The owner, or the member who asked for it, decides on the page or in the terminal.`
}
