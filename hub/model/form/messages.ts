import type { ModelMessage } from '../../core/model.ts'

export type UserMessage = Extract<ModelMessage, { role: 'user' }>
export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
export type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

export function userMessage(text: string, images?: UserMessage['images']): UserMessage {
  return { role: 'user', text, items: [], ...(images && images.length > 0 && { images }) }
}
