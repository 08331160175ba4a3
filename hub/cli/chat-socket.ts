import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { ChatMessage, HubFrame, SentFrame } from '../../schemas/chat.ts'
import { decideBackoff } from '../core/backoff.ts'
import { systemClock, systemTimezone } from '../core/clock.ts'
import { parseJson } from '../core/json.ts'
import { toTrust } from '../core/trusted-fetch.ts'
import type { RunningHub } from './find-hub.ts'

export type Decision = Omit<Extract<SentFrame, { type: 'decide' }>, 'type'>

export interface ChatSocketEvents {
  onFrame: (frame: HubFrame) => void
  /** Called when the connection opens, and when it is lost and tried again. */
  onState: (state: 'connected' | 'lost') => void
  /** Called when the hub refuses the connection; nothing more happens. */
  onRefused: (why: string) => void
}

const WAITS = { first: 1_000, longest: 15_000 }
/** Statuses that no retry changes: the token is wrong, or the name by which the hub was asked. */
const FINAL: readonly (number | undefined)[] = [401, 403]

/** Opens a socket at the hub's `/ws`, which is still connecting when this returns. */
export function connectTo({ url, token, certificate }: RunningHub): WebSocket {
  return new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${token}` },
    ...toTrust(certificate),
  })
}

/**
 * Opens a chat that reconnects by itself: it sends messages without an acknowledgement again under the same
 * id, and first receives those that it missed. Throws where no hub runs.
 */
export function openChatSocket(findHub: () => RunningHub, conversation: string, events: ChatSocketEvents) {
  const pending = new Map<string, string>()
  const own = new Set<string>()
  let socket: WebSocket | undefined
  let seen: number | undefined
  let failures = 0
  let cancel: (() => void) | undefined
  let ended = false

  const transmit = (frame: SentFrame) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
  }
  const say = (text: string, clientId: string) =>
    transmit({ type: 'message', conversation, text, clientId, timezone: systemTimezone() })
  const subscribe = () =>
    transmit({ type: 'subscribe', conversation, ...(seen === undefined ? {} : { after: seen }) })
  /** Handles a `lastSeq` below the last seen one: the conversation was deleted and begins anew. */
  const onSubscribed = (lastSeq: number) => {
    const isAnother = seen !== undefined && lastSeq < seen
    seen = isAnother ? 0 : (seen ?? lastSeq)
    if (isAnother && lastSeq > 0) subscribe()
  }
  const onFrame = (frame: HubFrame) => {
    if (frame.type === 'subscribed') onSubscribed(frame.lastSeq)
    if (frame.type === 'message') seen = frame.message.seq
    if ((frame.type === 'accepted' || frame.type === 'error') && frame.clientId)
      pending.delete(frame.clientId)
    events.onFrame(frame)
  }
  const onOpen = () => {
    failures = 0
    events.onState('connected')
    subscribe()
    pending.forEach(say)
  }
  const retry = () => {
    if (ended) return
    if (failures === 0) events.onState('lost')
    cancel = systemClock.after(decideBackoff(++failures, WAITS), () => {
      const hub = tryTo(findHub)
      if (hub) connect(hub)
      else retry()
    })
  }
  const onResponse = async (response: IncomingMessage) => {
    const why = await readError(response)
    if (!FINAL.includes(response.statusCode)) return retry()
    ended = true
    events.onRefused(why)
  }
  const connect = (hub: RunningHub) => {
    socket = connectTo(hub)
    socket.on('open', onOpen)
    socket.on('message', data => onFrame(parseJson(data.toString()) as HubFrame))
    socket.on('unexpected-response', (_request, response) => void onResponse(response))
    // After an error the socket emits `close`, which tries again.
    socket.on('error', () => undefined)
    socket.on('close', retry)
  }
  connect(findHub())
  return {
    send(text: string): void {
      const clientId = randomUUID()
      pending.set(clientId, text)
      own.add(clientId)
      say(text, clientId)
    },
    /** Tells whether a message was sent here. */
    isOwn: ({ clientId = '' }: ChatMessage): boolean => own.has(clientId),
    /** Stops the conversation's agent; does nothing while the connection is lost. */
    stop: (): void => transmit({ type: 'stop', conversation }),
    [Symbol.dispose](): void {
      ended = true
      cancel?.()
      socket?.terminate()
    },
  }
}

/** Returns undefined while no hub runs. */
function tryTo(findHub: () => RunningHub): RunningHub | undefined {
  try {
    return findHub()
  } catch {
    return undefined
  }
}

/** Reads the hub's reason for refusing the socket. */
export async function readError(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response) text += piece
  const body = parseJson(text) as { error?: { message?: string } } | undefined
  return body?.error?.message ?? `The hub answered with ${response.statusCode}`
}
