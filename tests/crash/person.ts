import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { ChatMessage, ClientFrame, HubFrame } from '../../schemas/chat.ts'
import { createRecord } from '../support/until.ts'

/** Milliseconds after which a person who was asked to try later does so. */
const RETRY_MS = 250

/** A message to send: it is sent again at every connection until it is accepted. */
export interface Wish {
  clientId: string
  conversation: string
  text: string
  accepted?: ChatMessage
}

/**
 * A chat client that survives the hub's restarts: it reconnects, resends unaccepted messages, reads missed
 * ones, and approves every request.
 */
export interface Person extends Disposable {
  readonly wishes: readonly Wish[]
  /** All messages that it was shown, in order of arrival. */
  readonly shown: ReturnType<typeof createRecord<ChatMessage>>
  readonly frames: ReturnType<typeof createRecord<HubFrame>>
  /** Violations in the hub's frames. */
  readonly problems: string[]
  /** `approvals` reads the requests from before the connection. */
  connect(hub: { url: string; token: string }, approvals: () => readonly string[]): void
  say(conversation: string, text: string): void
}

/** `retries` is true for one who tries again where the hub cannot store anything; it is a violation otherwise. */
export function createPerson(conversations: readonly string[], { retries = false } = {}): Person {
  const wishes: Wish[] = []
  const problems: string[] = []
  const frames = createRecord<HubFrame>()
  const shown = createRecord<ChatMessage>()
  const last = new Map<string, number>()
  let socket: WebSocket | undefined
  let approvals: () => readonly string[] = () => []

  const send = (frame: ClientFrame) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
  }
  const ask = ({ clientId, conversation, text }: Wish) =>
    send({ type: 'message', conversation, text, clientId })
  /** Approvals already given in this connection: a new request is both sent and read. */
  const approved = new Set<string>()
  const approve = (approval: string) => {
    if (approved.has(approval)) return
    approved.add(approval)
    send({ type: 'decide', approval, decision: 'approve' })
  }
  const onMessage = (message: ChatMessage) => {
    const before = last.get(message.conversation) ?? 0
    if (message.seq !== before + 1)
      problems.push(`${message.conversation}: message ${message.seq} was shown after ${before}`)
    last.set(message.conversation, message.seq)
    shown.add(message)
  }
  const onAccepted = (clientId: string | undefined, message: ChatMessage) => {
    const wish = wishes.find(one => one.clientId === clientId)
    if (!wish) return void problems.push(`${message.id} was accepted, which nobody sent`)
    if (wish.accepted && wish.accepted.id !== message.id)
      problems.push(`"${wish.text}" was accepted twice, as ${wish.accepted.id} and ${message.id}`)
    wish.accepted = message
  }
  let isRetrying = false
  const repeat = () => {
    isRetrying = false
    approved.clear()
    for (const wish of wishes) if (!wish.accepted) ask(wish)
    for (const approval of approvals()) approve(approval)
  }
  const onError = ({ code, message }: { code: string; message: string }) => {
    // A decision that is made again may have been taken the first time.
    if (retries && code === 'conflict') return
    if (!retries || code !== 'unavailable')
      return void problems.push(`The hub refused a frame: ${code}: ${message}`)
    if (!isRetrying) void pause(RETRY_MS).then(repeat)
    isRetrying = true
  }
  const onFrame = (frame: HubFrame) => {
    if (frame.type === 'message') onMessage(frame.message)
    if (frame.type === 'accepted') onAccepted(frame.clientId, frame.message)
    if (frame.type === 'approval' && frame.approval.status === 'open') approve(frame.approval.id)
    if (frame.type === 'error') onError(frame)
    frames.add(frame)
  }
  return {
    wishes,
    shown,
    frames,
    problems,
    connect({ url, token }, read) {
      approvals = read
      const opened = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, 'superbloom.v1', {
        headers: { Authorization: `Bearer ${token}` },
      })
      socket = opened
      opened.on('open', () => {
        for (const conversation of conversations)
          send({ type: 'subscribe', conversation, after: last.get(conversation) ?? 0 })
        repeat()
      })
      // Frames of a killed hub that still arrive belong to the old socket.
      opened.on('message', data => opened === socket && onFrame(JSON.parse(data.toString()) as HubFrame))
      // A killed hub breaks its sockets; the next hub gets a new one.
      opened.on('error', () => opened.terminate())
    },
    say(conversation, text) {
      const wish = { clientId: `wish-${wishes.length}`, conversation, text }
      wishes.push(wish)
      ask(wish)
    },
    [Symbol.dispose]: () => socket?.terminate(),
  }
}
