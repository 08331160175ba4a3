import { delta, line, refuse, SSE, serve } from './provider.ts'

/**
 * Serves a provider like vLLM: it lists its models with their contexts, calls the requested tool, and then
 * answers with the word of the trial; in a chat it says "Hello from qwen3.". `takesTools` tells whether it
 * accepts requests with tools.
 */
export function serveTrialProvider(takesTools: () => boolean = () => true) {
  return serve((response, body, { url }) => {
    if (url === '/v1/models') {
      const list = { object: 'list', data: [{ id: 'qwen3', max_model_len: 65_536, owned_by: 'vllm' }] }
      return void response.writeHead(200).end(JSON.stringify(list))
    }
    const { messages, tools } = JSON.parse(body)
    if (tools && !takesTools()) return refuse(response, 400, { message: 'tools are not enabled' })
    const usage = { choices: [], usage: { prompt_tokens: Math.ceil(body.length / 4), completion_tokens: 5 } }
    const pieces = [...answer(body, messages.at(-1).role === 'tool'), usage, '[DONE]']
    response.writeHead(200, SSE).end(pieces.map(line).join(''))
  })
}

function answer(body: string, isAnswered: boolean): object[] {
  if (isAnswered) return [delta({ content: 'The word ' }), delta({ content: 'is heron.' }), delta({}, 'stop')]
  const name = /tool (\w+) now/.exec(body)?.[1]
  if (name === undefined) return [delta({ content: 'Hello from qwen3.' }), delta({}, 'stop')]
  const call = { index: 0, id: 'c1', type: 'function', function: { name, arguments: '{}' } }
  return [delta({ tool_calls: [call] }), delta({}, 'tool_calls')]
}
