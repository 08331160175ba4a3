import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { type Clock, systemClock } from '../../hub/core/clock.ts'
import { describeError } from '../../hub/core/errors.ts'
import { type Model, ModelError, type ModelRequest } from '../../hub/core/model.ts'
import type { ModelEntry } from '../../hub/model/adapter.ts'
import { NO_QUIRKS } from '../../hub/model/create-model.ts'
import { providers } from '../../hub/model/providers/index.ts'
import { createRepairingModel, type RepairingOptions } from '../../hub/model/repair/repairing-model.ts'
import type { ProviderName } from '../../schemas/providers.ts'

export const KEY = 'sk-never-shown'

/** Opens a model of `compatible`, or of another provider. */
export function openModel(
  baseUrl: string,
  { clock = systemClock, quirks = NO_QUIRKS, ...entry }: Partial<ModelEntry & RepairingOptions> = {},
): Model {
  const { provider = 'compatible' } = entry
  const filled = {
    provider,
    baseUrl,
    apiKey: KEY,
    model: 'qwen3:32b',
    context: 32_768,
    maxOutput: 512,
    vision: false,
    ...entry,
  }
  return createRepairingModel(providers[provider as ProviderName], filled, { clock, quirks })
}

const TOOLS = [{ name: 'get_time', description: 'The time', inputSchema: { type: 'object' } }]

export function request(text: string, fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You look after a homelab.',
    messages: [{ role: 'user', text, items: [] }],
    tools: TOOLS,
    maxOutput: 256,
    timezone: 'UTC',
    now: 1_795_302_000_000,
    ...fields,
  }
}

export const live = () => new AbortController().signal

/** Returns the reply, and the text as it was shown. */
export async function ask(model: Model, text: string | ModelRequest, signal = live()) {
  const shown: string[] = []
  const asked = typeof text === 'string' ? request(text) : text
  const reply = await model.complete(asked, { signal, onText: piece => shown.push(piece) })
  return { reply, shown }
}

export async function failure(reply: Promise<unknown>): Promise<ModelError> {
  const error = await reply.then(
    () => expect.unreachable('the call succeeded'),
    thrown => thrown,
  )
  expect(error).toBeInstanceOf(ModelError)
  expect(describeError(error)).not.toContain(KEY)
  return error
}

export type Handler = (response: ServerResponse, body: string, call: IncomingMessage) => void

/**
 * Serves a hand-written provider. It emits `request` with each body, and `closed` when a connection is gone.
 */
export async function serve(handle: Handler) {
  const bodies: string[] = []
  const calls: IncomingMessage[] = []
  const events = new EventEmitter()
  const sockets = { ever: 0, open: 0 }
  const server = createServer(async (call, response) => {
    let body = ''
    for await (const chunk of call) body += chunk
    // A starting hub asks for its models' sizes; only requests to a model are recorded.
    if (call.method === 'GET') return void handle(response, body, call)
    bodies.push(body)
    calls.push(call)
    events.emit('request', body)
    handle(response, body, call)
  })
  server.on('connection', socket => {
    sockets.ever++
    sockets.open++
    socket.on('close', () => {
      sockets.open--
      events.emit('closed')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    calls,
    events,
    sockets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

export const SSE = { 'content-type': 'text/event-stream' }
export const line = (value: unknown) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
export const delta = (value: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: value, finish_reason }],
})
export const HELLO = [delta({ content: 'Hel' }), delta({ content: 'lo' }), delta({}, 'stop'), '[DONE]']
  .map(line)
  .join('')

export const stream =
  (text: string): Handler =>
  response =>
    void response.writeHead(200, SSE).end(text)
export const refuse = (response: ServerResponse, status: number, error: unknown, headers = {}) =>
  void response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error }))

/** Creates a clock whose timers run on command. */
export function manualClock() {
  const timers = new Map<() => void, number>()
  const counts = new Map<number, number>()
  const events = new EventEmitter()
  const clock: Clock = {
    now: () => Date.parse('2026-11-21T22:00:00Z'),
    monotonic: () => 0,
    after(delay, run) {
      timers.set(run, delay)
      counts.set(delay, (counts.get(delay) ?? 0) + 1)
      events.emit('armed')
      return () => timers.delete(run)
    },
  }
  const fire = (delay: number) => {
    for (const [run, each] of timers) if (each === delay) run()
  }
  /** Resolves once a timer of this delay was set so many times. */
  const armed = async (delay: number, times = 1) => {
    while ((counts.get(delay) ?? 0) < times) await once(events, 'armed')
  }
  return { clock, timers, fire, armed }
}
