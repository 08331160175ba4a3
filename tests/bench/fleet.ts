import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openHubProcess } from './hub-process.ts'
import { cpuOf, median, round } from './start/usage.ts'

const AGENTS = 200
const TURNS = 10
const PROVIDER_MS = 50

const REPLY =
  'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

export async function openSlowProvider() {
  const server = createServer(async (request, response) => {
    request.resume()
    await once(request, 'end')
    await pause(PROVIDER_MS)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(REPLY)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Measures 200 busy agents with a provider that takes 50 ms; 8 cycles run at once, as by default. */
export async function fleet(): Promise<Record<string, number>> {
  await using provider = await openSlowProvider()
  const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)
  await using hub = await openHubProcess({ provider: provider.url, agents })
  await Promise.all(agents.map(agent => hub.turn(agent, 'warm up')))
  const waits = new Map<string, number[]>(agents.map(agent => [agent, []]))
  const [cpu, began] = [cpuOf(hub.pid), performance.now()]
  await Promise.all(
    agents.map(async agent => {
      for (let turn = 0; turn < TURNS; turn++) waits.get(agent)?.push(await hub.turn(agent, `turn ${turn}`))
    }),
  )
  const took = performance.now() - began
  const turns = AGENTS * TURNS
  const averages = [...waits.values()].map(each => each.reduce((sum, wait) => sum + wait, 0) / each.length)
  const ideal = (8 * 1000) / PROVIDER_MS
  return {
    'turns per second': Math.round((turns * 1000) / took),
    'turns per second that 8 cycles at once allow': ideal,
    'CPU ms per turn': round((cpuOf(hub.pid) - cpu) / turns, 2),
    'wait of an agent, median ms': Math.round(median(averages)),
    'wait of an agent, longest ms': Math.round(Math.max(...averages)),
    'longest wait over the median (aim at most 2)': round(Math.max(...averages) / median(averages), 2),
  }
}
