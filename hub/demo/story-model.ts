import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The fields that a story reads of a request's message. */
export interface StoryMessage {
  role: string
  content: string | null
  tool_calls?: { function: { name: string } }[]
}

export interface StoryReply {
  text?: string
  calls?: readonly { name: string; arguments: Record<string, unknown> }[]
}

/** Decides the model's next reply by the request's messages alone, so that a restart changes nothing. */
export type Story = (messages: readonly StoryMessage[]) => StoryReply

export interface StoryModel extends AsyncDisposable {
  /** The value for OPENAI_BASE_URL. */
  readonly url: string
  /** Number of requests. */
  readonly asked: number
}

/**
 * Starts an OpenAI-compatible provider, by default on loopback, that plays a story, streamed word by word as models do.
 */
export async function startStoryModel(story: Story, port = 0, host = '127.0.0.1'): Promise<StoryModel> {
  let asked = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    if (request.method !== 'POST') return void response.writeHead(200).end('{"object":"list","data":[]}')
    asked++
    const { messages } = JSON.parse(body) as { messages: StoryMessage[] }
    send(response, story(messages), asked)
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/v1`,
    get asked() {
      return asked
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, { text = '', calls = [] }: StoryReply, turn: number): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const write = (delta: object, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: `c${turn}`, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  for (const word of text.split(/(?<= )/)) if (word) write({ content: word })
  for (const [index, call] of calls.entries()) {
    const { name, arguments: args } = call
    const id = `call_${turn}_${index}`
    write({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    })
  }
  write({}, calls.length > 0 ? 'tool_calls' : 'stop')
  const usage = { prompt_tokens: 500, completion_tokens: 50, total_tokens: 550 }
  response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
  response.end('data: [DONE]\n\n')
}
