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
