import type { ModelMessage } from '../../core/model.ts'

export type UserMessage = Extract<ModelMessage, { role: 'user' }>
export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
export type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/**
 * Returns the value with other fields. Where they are the same it returns the value itself, so that an
 * adapter can keep what it wrote of it.
 */
export function change<Value extends object>(value: Value, fields: Partial<Value>): Value {
  const isSame = Object.entries(fields).every(([key, field]) => value[key as keyof Value] === field)
  return isSame ? value : { ...value, ...fields }
}

export function userMessage(text: string, images?: UserMessage['images']): UserMessage {
  return { role: 'user', text, items: [], ...(images && images.length > 0 && { images }) }
}
