import type {
  AssistantMessage,
  ModelImage,
  ModelMessage,
  Thinking,
  ToolMessage,
  UserMessage,
} from '../../../core/model.ts'

export function user(text: string, images?: readonly ModelImage[]): UserMessage {
  return { role: 'user', text, items: [], ...(images && { images }) }
}

/** Makes an assistant's message that calls `get_time` once for each id. */
export function assistant(text: string, ids: readonly string[] = [], thinking?: Thinking): AssistantMessage {
  const calls = ids.map(id => ({ id, name: 'get_time', arguments: '{}' }))
  return { role: 'assistant', text, calls, ...(thinking && { thinking }) }
}

export function result(callId: string, text = `of ${callId}`, images?: readonly ModelImage[]): ToolMessage {
  return { role: 'tool', callId, name: 'get_time', text, isError: false, ...(images && { images }) }
}

/** Makes the beginning of a PNG, which is all that is read of it. */
export function png(width: number, height: number): ModelImage {
  const bytes = Buffer.alloc(33)
  bytes.writeUInt32BE(0x89504e47, 0)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return { mimeType: 'image/png', data: bytes.toString('base64') }
}

/** Writes each message in a line, for tests that compare an order. */
export function sketch(messages: readonly ModelMessage[]): string[] {
  return messages.map(message => {
    if (message.role === 'tool') return `tool ${message.callId}: ${message.text}`
    const calls = message.role === 'assistant' ? message.calls.map(call => ` +${call.id}`).join('') : ''
    const images = message.role === 'user' && message.images ? ` (${message.images.length} pictures)` : ''
    return `${message.role}: ${message.text}${calls}${images}`
  })
}
