import OpenAI from 'openai'
import { expect } from 'vitest'
import { openChat } from './chat-client.ts'
import { openClient } from './clients.ts'
import { send } from './raw-http.ts'
import { bearer } from './roles.ts'
import { createScriptedModel, type Turn } from './scripted-model.ts'
import { startTestHub, type TestHubOptions } from './test-hub.ts'

/** Starts a hub whose model plays the turns. */
export async function startTalkHub(turns: Turn[] = [], options: TestHubOptions = {}) {
  const model = createScriptedModel(turns)
  const hub = await startTestHub({ ...options, overrides: { model } })
  return { hub, model, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() }
}

/** Opens the official client; it repeats nothing by itself. */
export function openAi({ url, token }: { url: string; token: string }): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
}

export const user = (content: string) => ({ role: 'user', content }) as const

/** Returns the messages of a conversation, as `kind: text`. */
export async function messagesIn(
  hub: { url: string; token: string },
  conversation: string,
): Promise<string[]> {
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const { structuredContent } = await client.call('hub_read_messages', { conversation })
  const { messages } = structuredContent as { messages: { kind: string; text: string }[] }
  return messages.map(({ kind, text }) => `${kind}: ${text}`)
}

/** Returns the conversations that programs have with agents. */
export async function conversationsOf(hub: { url: string; token: string }): Promise<string[]> {
  using chat = await openChat(hub)
  const { conversations } = await chat.next('welcome')
  return conversations.flatMap(({ id }) => (id.includes('/mcp-') ? id : [])).sort()
}

/** Sends a request as a client does that is not written in this language. */
export function postCompletion(
  { url, token }: { url: string; token: string },
  body: object,
  headers: Record<string, string> = {},
) {
  return send(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...bearer(token), 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Returns a stream's text as a reader gets it that takes every line that is not empty for a chunk. */
export function textIn(stream: string): string {
  const lines = stream.split('\n').filter(line => line !== '')
  expect(lines.pop()).toBe('data: [DONE]')
  const chunks = lines.map(line => JSON.parse(line.replace(/^data: /, '')) as OpenAI.ChatCompletionChunk)
  return textOfChunks(chunks)
}

export function textOfChunks(chunks: readonly OpenAI.ChatCompletionChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
}

export async function gather<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
