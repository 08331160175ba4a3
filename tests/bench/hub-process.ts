import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { builtProgram, ensureBuilt } from '../support/built.ts'
import { openClient } from '../support/clients.ts'
import { startProgram } from '../support/program.ts'

// The default limits for a day would end a benchmark.
const AGENT =
  '---\nlimits: { tokensPerDay: 1000000000, wakesPerDay: 100000 }\n---\nYou are a helpful homelab agent.\n'
const READY_EVERY_MS = 2

export interface HubProcessOptions {
  /** The address of an OpenAI-compatible API; without it the built-in commands answer. */
  provider?: string
  agents: readonly string[]
  config?: string
  /** Fills the data folder before the start. */
  prepare?: (dataFolder: string) => Promise<void> | void
}

/** Starts the built hub as a process with its own folders, and connects to its endpoints. */
export async function openHubProcess(options: HubProcessOptions) {
  ensureBuilt()
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  mkdirSync(join(folder, 'agents'))
  mkdirSync(data, { mode: 0o700 })
  for (const name of options.agents) writeFileSync(join(folder, 'agents', `${name}.md`), AGENT)
  writeFileSync(join(folder, 'superbloom.yaml'), options.config ?? 'servers: { metrics: false }\n')
  await options.prepare?.(data)
  const began = performance.now()
  const program = stack.use(
    await startProgram(process.execPath, [builtProgram, 'start'], {
      cwd: folder,
      env: {
        SUPERBLOOM_CONFIG: join(folder, 'superbloom.yaml'),
        SUPERBLOOM_DATA: data,
        SUPERBLOOM_AGENTS: join(folder, 'agents'),
        SUPERBLOOM_PORT: '0',
        LOG_LEVEL: 'error',
        ...(options.provider
          ? { OPENAI_BASE_URL: options.provider, OPENAI_API_KEY: 'bench', SUPERBLOOM_MODEL: 'bench' }
          : {}),
      },
    }),
  )
  const url = (await program.says(/Open (http:\S+)/))[1] ?? ''
  while ((await fetch(`${url}/readyz`)).status !== 200)
    await new Promise(resolve => setTimeout(resolve, READY_EVERY_MS))
  const readyAfter = performance.now() - began
  const token = readFileSync(join(data, 'token'), 'utf8').trim()
  const client = stack.use(await openClient('sdk 2, 2026-07-28', { url: `${url}/mcp`, token }))
  const chat = await openChat(url, token)
  stack.defer(() => chat.socket.close())
  return {
    pid: program.pid,
    url,
    token,
    data,
    readyAfter,
    turn: chat.turn,
    call: (name: string, args: Record<string, unknown>) => client.call(name, args),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function openChat(url: string, token: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${token}` },
  })
  const welcomed = Promise.withResolvers<void>()
  const replied = new Map<string, () => void>()
  const subscribed = new Set<string>()
  socket.on('message', data => {
    const frame = JSON.parse(data.toString())
    if (frame.type === 'welcome') welcomed.resolve()
    if (frame.type === 'error') welcomed.reject(new Error(frame.message))
    if (frame.type === 'message' && frame.message.kind === 'agent')
      replied.get(frame.message.conversation)?.()
  })
  await welcomed.promise
  return {
    socket,
    /** Resolves with the milliseconds from the message to its stored reply. */
    async turn(conversation: string, text: string): Promise<number> {
      if (!subscribed.has(conversation)) socket.send(JSON.stringify({ type: 'subscribe', conversation }))
      subscribed.add(conversation)
      const stored = Promise.withResolvers<void>()
      replied.set(conversation, stored.resolve)
      const began = performance.now()
      socket.send(JSON.stringify({ type: 'message', conversation, text }))
      await stored.promise
      return performance.now() - began
    },
  }
}
