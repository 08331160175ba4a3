import type { MessageKind } from '../../schemas/chat.ts'

/** Tables of what people see. */
export interface ConversationTables {
  conversations: {
    id: string
    last_seq: number
    created_at: number
    title: string | null
    pinned: number
  }
  /** Files that people send with messages. */
  files: {
    id: string
    author: string
    name: string
    /** Bytes of the content. */
    size: number
    content: Buffer
    /** Text in it, as agents read it. */
    text: string
    /** The message that it came with; null until that is sent. */
    conversation_id: string | null
    message_id: string | null
    created_at: number
  }
  messages: {
    conversation_id: string
    seq: number
    id: string
    kind: MessageKind
    author: string
    text: string
    at: number
    /** Name of the token, and the client's own id for the message: a repeat is absorbed. */
    token: string | null
    client_id: string | null
    in_reply_to_json: string | null
    data_json: string | null
    cycle_id: string | null
  }
}
