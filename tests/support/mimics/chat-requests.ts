import type { Json } from './json.ts'

/** Parts of chat completion requests, from which the tables are built. */
export const user = (content: unknown = 'Hi') => ({ role: 'user', content })

export const assistant = (more: Json = {}) => ({ role: 'assistant', content: 'Yes', ...more })

export const calling = (ids: readonly string[], more: Json = {}) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(id => ({ id, type: 'function', function: { name: 'get_time', arguments: '{}' } })),
  ...more,
})

export const result = (tool_call_id: string, content: unknown = 'noon') => ({
  role: 'tool',
  tool_call_id,
  content,
})

export const toSchema = (property: unknown, more: Json = {}) => ({
  type: 'object',
  properties: { at: property },
  ...more,
})

export const tool = (more: Json = {}) => ({
  type: 'function',
  function: {
    name: 'get_time',
    description: 'The time',
    parameters: toSchema({ type: 'string' }),
    ...more,
  },
})

export const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
