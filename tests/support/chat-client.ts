import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { ChatMessage, ClientFrame, HubFrame } from '../../schemas/chat.ts'
import { createRecord } from './until.ts'

type FrameOf<Type extends HubFrame['type']> = Extract<HubFrame, { type: Type }>

/** A chat client at `/ws` that records every frame. */
export interface ChatClient extends Disposable {
  readonly socket: WebSocket
  readonly frames: ReturnType<typeof createRecord<HubFrame>>
  /** The received messages, in order. */
  readonly messages: ChatMessage[]
  send(frame: ClientFrame): void
  /** Sends the data unchanged, valid or not. */
  sendRaw(data: string | Buffer): void
  /** Resolves with the first matching frame of a type, among earlier and later ones. */
  next<Type extends HubFrame['type']>(
    type: Type,
    fits?: (frame: FrameOf<Type>) => boolean,
  ): Promise<FrameOf<Type>>
  /** Subscribes and waits for the confirmation; returns the conversation's last seq. */
  subscribe(conversation: string, after?: number): Promise<number>
  /** Sends a message; resolves with the stored message. */
  say(conversation: string, text: string, clientId?: string): Promise<ChatMessage>
  /** Resolves with the first answer to this message by an agent, or of the given kinds. */
  answerTo(message: ChatMessage, kinds?: ChatMessage['kind'][]): Promise<ChatMessage>
  /** Sends a message and waits for its answer. */
  ask(conversation: string, text: string): Promise<ChatMessage>
}

let made = 0

/** Opens a chat; the hub's `welcome` is the first of its frames. */
export async function openChat(hub: { url: string; token: string }): Promise<ChatClient> {
  const socket = new WebSocket(`${hub.url.replace(/^http/, 'ws')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${hub.token}` },
  })
  const frames = createRecord<HubFrame>()
  socket.on('message', data => frames.add(JSON.parse(data.toString()) as HubFrame))
  await once(socket, 'open')
  const client: ChatClient = {
    socket,
    frames,
    get messages() {
      return frames.all.flatMap(frame => (frame.type === 'message' ? [frame.message] : []))
    },
    send: frame => socket.send(JSON.stringify(frame)),
    sendRaw: data => socket.send(data),
    async next(type, fits = () => true) {
      const isIt = (frame: HubFrame) => frame.type === type && fits(frame as FrameOf<typeof type>)
      return (await frames.find(`a frame ${type} arrives`, isIt)) as FrameOf<typeof type>
    },
    async subscribe(conversation, after) {
      const from = frames.all.length
      client.send({ type: 'subscribe', conversation, ...(after === undefined ? {} : { after }) })
      const isIt = (frame: HubFrame) => frame.type === 'subscribed' && frame.conversation === conversation
      const frame = await frames.find(`the subscription of ${conversation}`, isIt, from)
      return (frame as FrameOf<'subscribed'>).lastSeq
    },
    async say(conversation, text, clientId = `test-${process.pid}-${made++}`) {
      const from = frames.all.length
      client.send({ type: 'message', conversation, text, clientId })
      const isIt = (frame: HubFrame) =>
        (frame.type === 'accepted' || frame.type === 'error') && frame.clientId === clientId
      const frame = await frames.find(`"${text}" is accepted`, isIt, from)
      if (frame.type === 'error') throw new Error(`${frame.code}: ${frame.message}`)
      return (frame as FrameOf<'accepted'>).message
    },
    async answerTo(message, kinds = ['agent']) {
      const isIt = ({ kind, inReplyTo, conversation }: ChatMessage) =>
        conversation === message.conversation &&
        kinds.includes(kind) &&
        inReplyTo?.includes(message.id) === true
      return (await client.next('message', frame => isIt(frame.message))).message
    },
    async ask(conversation, text) {
      await client.subscribe(conversation)
      return client.answerTo(await client.say(conversation, text))
    },
    [Symbol.dispose]: () => socket.terminate(),
  }
  await client.next('welcome')
  return client
}
