import type { AnthropicProvider } from '@ai-sdk/anthropic'
import { z } from 'zod'
import { parseJson } from '../../core/json.ts'
import type { AssistantMessage, ModelImage, ModelMessage, ToolMessage } from '../../core/model.ts'

/** A model of one of the AI SDK's provider packages: all of them have this interface. */
export type LanguageModel = ReturnType<AnthropicProvider['languageModel']>
export type CallOptions = Parameters<LanguageModel['doStream']>[0]
export type Prompt = CallOptions['prompt']
export type ProviderOptions = NonNullable<CallOptions['providerOptions']>

type Stream = Awaited<ReturnType<LanguageModel['doStream']>>['stream']
export type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never

/**
 * Parts of a reply in the order in which the model thought, wrote and called, with what its provider wants
 * back. A part has no text of its own: its `length` counts the next characters of the thoughts or of the
 * text.
 */
const keptParts = z.array(
  z.object({
    type: z.enum(['reasoning', 'text', 'call']),
    length: z.int().nonnegative(),
    meta: z.custom<ProviderOptions>(value => typeof value === 'object' && value !== null).optional(),
  }),
)
export type KeptPart = z.infer<typeof keptParts>[number]

/** Returns the parts as they were stored; none where they no longer fit the message. */
export function readKeptParts(
  value: unknown,
  lengths: { reasoning: number; text: number; calls: number },
): KeptPart[] {
  const parts = keptParts.safeParse(value).data ?? []
  const sum = (type: KeptPart['type']) =>
    parts.reduce((all, part) => all + (part.type === type ? part.length : 0), 0)
  const fits =
    sum('reasoning') === lengths.reasoning && sum('text') === lengths.text && sum('call') === lengths.calls
  return fits ? parts : []
}

type Message = Prompt[number]
type Content<Role> = Extract<Message, { role: Role }>['content']

/**
 * Returns the prompt of a request as the AI SDK's packages take it. `mark` goes to the ends of what the
 * provider is to cache: the prompt, and the second-to-last message.
 */
export function toPrompt(
  system: string,
  messages: readonly ModelMessage[],
  mark: ProviderOptions | undefined,
): Prompt {
  const prompt: Prompt = system === '' ? [] : [{ role: 'system', content: system }]
  for (const message of messages) add(prompt, message)
  const ends = mark ? [prompt[0], prompt.length > 2 ? prompt.at(-2) : undefined] : []
  return prompt.map(message =>
    mark && ends.includes(message) ? { ...message, providerOptions: mark } : message,
  )
}

function add(prompt: Message[], message: ModelMessage): void {
  switch (message.role) {
    case 'user':
      prompt.push({ role: 'user', content: toUserContent(message.text, message.images) })
      return
    case 'assistant': {
      const content = toAssistantContent(message)
      if (content.length > 0) prompt.push({ role: 'assistant', content })
      return
    }
    case 'tool': {
      const { callId: toolCallId, name: toolName } = message
      const result = { type: 'tool-result' as const, toolCallId, toolName, output: toOutput(message) }
      const last = prompt.at(-1)
      // Gemini wants the results of parallel calls in one message.
      if (last?.role === 'tool') last.content.push(result)
      else prompt.push({ role: 'tool', content: [result] })
      return
    }
    default:
      message satisfies never
  }
}

function toUserContent(text: string, images: readonly ModelImage[] = []): Content<'user'> {
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...images.map(({ mimeType, data }) => ({ type: 'file' as const, mediaType: mimeType, data })),
  ]
}

function toOutput({ text, isError, images = [] }: ToolMessage) {
  if (images.length === 0) return { type: isError ? ('error-text' as const) : ('text' as const), value: text }
  return {
    type: 'content' as const,
    value: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...images.map(({ mimeType, data }) => ({ type: 'image-data' as const, mediaType: mimeType, data })),
    ],
  }
}

/** Returns what the model thought, wrote and called, in the same order. */
function toAssistantContent({ text, calls, thinking }: AssistantMessage): Content<'assistant'> {
  const thoughts = thinking?.text ?? ''
  const lengths = { reasoning: thoughts.length, text: text.length, calls: calls.length }
  const kept = readKeptParts(thinking?.parts, lengths)
  const at = { reasoning: 0, text: 0, call: 0 }
  return (kept.length > 0 ? kept : inOrder(lengths)).flatMap((part): Content<'assistant'> => {
    const from = at[part.type]
    at[part.type] += part.length
    const options = part.meta ? { providerOptions: part.meta } : {}
    if (part.type === 'call') {
      const call = calls[from]
      if (!call) return []
      const made = { toolCallId: call.id, toolName: call.name, input: parseJson(call.arguments) }
      return [{ type: 'tool-call' as const, ...made, ...options }]
    }
    const written = (part.type === 'text' ? text : thoughts).slice(from, at[part.type])
    // Thoughts that the provider hides have no text, only what it wants back.
    if (written.trim() === '' && (part.type === 'text' || !part.meta)) return []
    return [{ type: part.type, text: written, ...options }]
  })
}

function inOrder({ reasoning, text, calls }: { reasoning: number; text: number; calls: number }): KeptPart[] {
  return [
    { type: 'reasoning', length: reasoning },
    { type: 'text', length: text },
    ...Array.from({ length: calls }, () => ({ type: 'call' as const, length: 1 })),
  ]
}
