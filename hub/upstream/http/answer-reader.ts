import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client'
import { isObject } from '../../core/forwarding.ts'
import { parseJson } from '../../core/json.ts'
import { tooLong } from '../bounds.ts'
import { createEventReader, type EventReader } from './event-reader.ts'
import type { HeldShare } from './held-bytes.ts'

/** Reads the messages of one request's stream. */
export interface AnswerReader extends Pick<EventReader, 'overlong' | 'lastEventId' | 'retry'> {
  /** Delivers the messages that a part completes; counts them and the lines. Throws if one is too long. */
  take(part: Buffer): { messages: number; lines: number }
  /** True once the request's answer was delivered. */
  readonly answered: boolean
}

export function createAnswerReader(
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
  share?: HeldShare,
): AnswerReader {
  const reader = createEventReader(share)
  let answered = false
  let messages = 0
  const onData = (data: string) => {
    const message = parseJson(data)
    if (!isObject(message)) return
    messages++
    answered ||= isAnswer(message, request)
    deliver(message as JSONRPCMessage)
  }
  return {
    take(part) {
      messages = 0
      const lines = reader.take(part, onData)
      if (reader.overlong) throw tooLong()
      return { messages, lines }
    },
    get answered() {
      return answered
    },
    get overlong() {
      return reader.overlong
    },
    get lastEventId() {
      return reader.lastEventId
    },
    get retry() {
      return reader.retry
    },
  }
}

/** Tells whether a message is the answer to a request. */
export function isAnswer(message: unknown, { id }: JSONRPCRequest): message is JSONRPCMessage {
  return (
    isObject(message) && message['id'] === id && (isObject(message['result']) || isObject(message['error']))
  )
}
