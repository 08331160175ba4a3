import type { AgentStatus, Approval, ChatMessage, ToolCallStatus } from '../../schemas/chat.ts'
import type { JsonObject, OfferChange } from './forwarding.ts'
import type { EndedOperation } from './telemetry.ts'

/** Signals that parts of the hub send each other. Each is emitted after its commit. */
export type SignalMap = {
  /** A message was appended to a conversation. */
  message: ChatMessage
  delta: { conversation: string; cycle: string; text: string }
  tool: {
    conversation: string
    cycle: string
    call: { id: string; tool: string; status: ToolCallStatus; summary?: string }
  }
  agent: { name: string; status: AgentStatus }
  /** An approval was requested or decided. */
  approval: Approval
  /** An event of the infrastructure was recorded. */
  event: { id: string }
  /** A conversation's title or pin changed. */
  conversation: { id: string }
  /** A conversation was deleted for good. */
  forgotten: { conversation: string }
  /** Something was posted to the inbox of a thread. */
  posted: { thread: string }
  /** A person asked a cycle to stop or, where `cycle` is missing, the thread's waiting items. */
  stopRequested: { thread: string; cycle?: string; by: string }
  /** A cycle ended and all its data is stored. */
  cycleEnded: { cycle: string; thread: string }
  /** A thread has no cycle to run for now, and no longer counts as active. */
  idle: { thread: string }
  /** A daily limit keeps these messages waiting. Emitted even where the conversation already got a notice. */
  held: { messages: string[]; why: string }
  /** A schedule was made, changed or ended. */
  schedules: { agent: string }
  /** A time at which the hub's clock has to act was added or removed. */
  dueTimesChanged: { why: string }
  /** A provider that was down answers again. */
  modelAnswers: { name: string }
  /** A person wants a model that is down to be asked again. */
  modelRetryRequested: { by: string }
  stepCommitted: { thread: string }
  /** An operation that telemetry measures ended. */
  operationEnded: EndedOperation
  /** The store committed writes: milliseconds that the first of them waited, and that the commit took. */
  committed: { waited: number; took: number }
  /** Chat refused a client's frame. */
  frameRefused: { code: string }
  /** The agents that the crash-loop guard held run again. */
  released: { by: string }
  /** The servers' listings, or a server's state, changed. */
  servers: OfferChange
  /** A server's resource that somebody subscribed to changed, or may have changed. */
  resourceUpdated: { uri: string }
  /** A server wrote a log message: the params of `notifications/message`. */
  serverNotice: { server: string; method: string; params: JsonObject }
  /** A token does not open anything any more. */
  tokenEnded: { id: string }
  config: { file: string }
  agents: { names: string[] }
}

/** `on` returns a function that ends the listening. The other listeners still run when one throws. */
export interface Signals {
  on<Name extends keyof SignalMap>(name: Name, listener: (value: SignalMap[Name]) => void): () => void
  emit<Name extends keyof SignalMap>(name: Name, value: SignalMap[Name]): void
}

/** Creates signals. `onError` gets what a listener threw. */
export function createSignals(onError: (error: unknown) => void): Signals {
  const listeners = new Map<string, Set<(value: never) => void>>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return () => set.delete(listener)
    },
    emit(name, value) {
      for (const listener of listeners.get(name) ?? []) {
        try {
          listener(value as never)
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}
