import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openHubProcess } from './hub-process.ts'
import { median, round } from './start/usage.ts'

const WARM_UP = 50
const POSTS = 200
const SCHEDULES = 12
const FIRST_DUE_MS = 2_000

const REPLY = [
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":null}]}\n\n',
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
].join('')

/** Opens a provider in this process, so that one clock measures when a request reaches it. */
async function openProvider() {
  let onRequest: (at: number, body: string) => void = () => undefined
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end()
    const at = performance.now()
    let body = ''
    for await (const chunk of request) body += chunk
    onRequest(at, body)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(REPLY)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    listen: (listener: typeof onRequest) => {
      onRequest = listener
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Measures the time from a post to the first byte at the provider, and the delay of a schedule. */
export async function wake(): Promise<Record<string, number>> {
  await using provider = await openProvider()
  await using hub = await openHubProcess({ provider: provider.url, agents: ['homelab'] })
  const waits: number[] = []
  for (let count = 0; count < WARM_UP + POSTS; count++) {
    const reached = Promise.withResolvers<number>()
    provider.listen(at => reached.resolve(at))
    const began = performance.now()
    const replied = hub.turn('homelab', 'how is this machine doing?')
    const waited = (await reached.promise) - began
    await replied
    if (count >= WARM_UP) waits.push(waited)
  }
  const late = await measureSchedules(provider, hub)
  waits.sort((a, b) => a - b)
  return {
    'post to the first byte at the provider, p50 ms (aim under 5)': round(median(waits), 2),
    'post to the first byte at the provider, p95 ms': round(
      waits[Math.floor(waits.length * 0.95)] ?? Number.NaN,
      2,
    ),
    'schedule, at the provider after its time, median ms': round(median(late), 2),
    'schedule, at the provider after its time, latest ms (aim under 50)': round(Math.max(...late), 2),
  }
}

type Provider = Awaited<ReturnType<typeof openProvider>>
type Hub = Awaited<ReturnType<typeof openHubProcess>>

async function measureSchedules(provider: Provider, hub: Hub): Promise<number[]> {
  const late: number[] = []
  const all = Promise.withResolvers<void>()
  const due = new Map<string, number>()
  provider.listen((_at, body) => {
    // The message lists pending wake-ups first, then the ones that fired.
    const { messages } = JSON.parse(body) as { messages: { content: string }[] }
    const fired = messages.at(-1)?.content.split('Wake-up that was scheduled').slice(1).join() ?? ''
    for (const [reason, at] of due) {
      if (!fired.includes(reason)) continue
      late.push(Date.now() - at)
      due.delete(reason)
    }
    if (due.size === 0) all.resolve()
  })
  const first = Date.now() + FIRST_DUE_MS
  for (let index = 0; index < SCHEDULES; index++) {
    const at = first + index * 300
    due.set(`wake number ${index}.`, at)
    await hub.call('hub_create_schedule', { at: new Date(at).toISOString(), reason: `wake number ${index}.` })
  }
  await all.promise
  return late
}
