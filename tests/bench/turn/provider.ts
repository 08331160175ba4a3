import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * A provider on loopback that streams one fixed reply to every request; prints its address. Run as a process.
 */

const WORDS =
  'The machine is fine: the processor is calm, memory has room, and every disk has space left. '.repeat(3)
const pieces = WORDS.trim().split(/(?<= )/)

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices })}\n\n`
}

const usage = { prompt_tokens: 100, completion_tokens: pieces.length, total_tokens: 100 + pieces.length }
const stream = [
  chunk({ role: 'assistant', content: '' }),
  ...pieces.map(content => chunk({ content })),
  chunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [], usage })}\n\n`,
  'data: [DONE]\n\n',
]

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const part of stream) response.write(part)
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
})
process.on('disconnect', () => process.exit(0))
