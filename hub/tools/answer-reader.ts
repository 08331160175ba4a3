import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/client'
import { isObject } from '../core/forwarding.ts'
import { parseJson } from '../core/json.ts'
import { tooLong } from './bounds.ts'
import { createEventReader, type EventReader } from './event-reader.ts'

/** Reads the messages of one request's stream. */
export interface AnswerReader extends Pick<EventReader, 'overlong' | 'lastEventId' | 'retry'> {
  /** Delivers the messages that this part completes; returns how many they are. Throws where one is too long. */
  take(part: Buffer): number
  /** The request's answer was among them. */
  readonly answered: boolean
}

export function createAnswerReader(
  request: JSONRPCRequest,
  deliver: (message: JSONRPCMessage) => void,
): AnswerReader {
  const reader = createEventReader()
  let answered = false
  let count = 0
  const onData = (data: string) => {
    const message = parseJson(data)
    if (!isObject(message)) return
    count++
    answered ||= isAnswer(message, request)
    deliver(message as JSONRPCMessage)
  }
  return {
    take(part) {
      count = 0
      reader.take(part, onData)
      if (reader.overlong) throw tooLong()
      return count
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

/** Whether a message is the answer to a request. */
export function isAnswer(message: unknown, { id }: JSONRPCRequest): message is JSONRPCMessage {
  return (
    isObject(message) && message['id'] === id && (isObject(message['result']) || isObject(message['error']))
  )
}
