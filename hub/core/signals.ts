import type { AgentStatus, Approval, ChatMessage, ToolCallStatus } from '../../schemas/chat.ts'
import type { Emitter } from './emitter.ts'
import type { JsonObject, OfferChange } from './forwarding.ts'

/** What happens inside the hub and others may want to know at once. Each is told after its commit. */
export type SignalMap = {
  /** A message was appended to a conversation. */
  message: ChatMessage
  /** A piece of a reply, streamed. */
  delta: { conversation: string; cycle: string; text: string }
  tool: {
    conversation: string
    cycle: string
    call: { id: string; tool: string; status: ToolCallStatus; summary?: string }
  }
  agent: { name: string; status: AgentStatus }
  /** An approval was asked for, or decided. */
  approval: Approval
  /** Something happened in the infrastructure, and is recorded. */
  event: { id: string }
  /** A conversation was deleted for good. */
  forgotten: { conversation: string }
  /** Something was posted to the inbox of a thread. */
  posted: { thread: string }
  /** A person asked a running cycle to stop, or what waits for the thread where `cycle` is missing. */
  stopRequested: { thread: string; cycle?: string; by: string }
  /** A cycle ended and everything of it is stored. */
  cycleEnded: { cycle: string; thread: string }
  /** A thread's cycles are over for now, and it counts as active no longer. */
  rests: { thread: string }
  /** A limit of the day keeps these messages waiting, also where their conversation was told before. */
  held: { messages: string[]; why: string }
  /** Some schedule was made, changed or ended. */
  schedules: { agent: string }
  /** Something got or lost a time at which the clock has to act. */
  due: { why: string }
  /** A provider that was down answers again. */
  modelAnswers: { name: string }
  /** A person wants a model that is down to be asked again. */
  modelWanted: { by: string }
  /** A step of a cycle was committed. */
  stepped: { thread: string }
  /** The agents that were held after a crash loop run again. */
  released: { by: string }
  /** What the servers offer, or a server's state, changed. */
  servers: OfferChange
  /** A resource of a server that somebody subscribed to changed, or may have. */
  resourceUpdated: { uri: string }
  /** A server wrote a log message: the params of `notifications/message`. */
  serverNotice: { server: string; method: string; params: JsonObject }
  /** A new config is in force. */
  config: { file: string }
  /** The agents' files changed. */
  agents: { names: string[] }
}

export type Signals = Emitter<SignalMap>
