import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { ChatMessage } from '../../schemas/chat.ts'
import { LINES, openClient, type TestClient } from '../support/clients.ts'
import { openSlowProvider } from './fleet.ts'
import { openHubProcess } from './hub-process.ts'
import { median, memoryOf, round } from './start/usage.ts'

const CHATS = 1_000
const CLIENTS = 200
const AGENTS = 20
/** Chat clients that follow one conversation. */
const FOLLOWERS = 5
const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 10)
/** Milliseconds between two messages of all people together, and between two calls of one client. */
const MESSAGE_EVERY_MS = 100
const CALL_EVERY_MS = 2_000
const CONNECTING_AT_ONCE = 25

type Follower = Awaited<ReturnType<typeof follow>>

/** Measures 1,000 chats and 200 MCP clients that work at once for ten minutes. */
export async function load(): Promise<Record<string, number>> {
  await using provider = await openSlowProvider()
  const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)
  await using hub = await openHubProcess({ provider: provider.url, agents })
  let dropped = 0
  let isOver = false
  const chats = await inTurns(CHATS, index =>
    follow(hub, `agent-${index % AGENTS}/c${Math.floor(index / FOLLOWERS)}`),
  )
  for (const { socket } of chats) socket.on('close', () => (dropped += isOver ? 0 : 1))
  const clients = await inTurns(CLIENTS, index => openClient(LINES[index % LINES.length] ?? LINES[0], hub))
  await pause(5_000)
  const memory = [rssOf(hub.pid)]
  const until = performance.now() + MINUTES * 60_000
  const sampling = sampleMemory(hub.pid, until, memory)
  const [replies, calls] = await Promise.all([talk(chats, until), callTools(clients, until)])
  await sampling
  const missed = chats.reduce((sum, chat) => sum + chat.missed(), 0)
  isOver = true
  for (const { socket } of chats) socket.terminate()
  await Promise.all(clients.map(client => client[Symbol.asyncDispose]()))
  const later = memory.slice(Math.floor(memory.length / 3))
  const half = Math.floor(later.length / 2)
  return {
    minutes: MINUTES,
    'chats that were dropped (aim 0)': dropped,
    'messages that a follower missed or got twice (aim 0)': missed,
    'messages answered': replies.length,
    'from a message to its reply, median ms': Math.round(median(replies)),
    'calls of MCP clients': calls.took.length,
    'calls that failed (aim 0)': calls.failed,
    'call, median ms': round(median(calls.took), 1),
    'memory with all connected, before, MiB': memory[0] ?? 0,
    'memory in the second third, MiB': Math.round(median(later.slice(0, half))),
    'memory in the last third, MiB (aim: no more than a tenth above)': Math.round(median(later.slice(half))),
  }
}

/** Opens many connections, some at a time. */
async function inTurns<Opened>(count: number, open: (index: number) => Promise<Opened>): Promise<Opened[]> {
  const opened: Opened[] = []
  for (let from = 0; from < count; from += CONNECTING_AT_ONCE) {
    const size = Math.min(CONNECTING_AT_ONCE, count - from)
    opened.push(...(await Promise.all(Array.from({ length: size }, (_, index) => open(from + index)))))
  }
  return opened
}

/** Sends messages at an even pace, each from another client; resolves with the milliseconds to each reply. */
async function talk(chats: readonly Follower[], until: number): Promise<number[]> {
  const waits: Promise<number>[] = []
  for (let turn = 0; performance.now() < until; turn++) {
    const follower = chats[(turn * 7) % chats.length]
    if (follower) waits.push(follower.ask(`turn ${turn}`))
    await pause(MESSAGE_EVERY_MS)
  }
  return Promise.all(waits)
}

/** Opens a chat that follows one conversation, and keeps of its frames no more than the numbers. */
async function follow({ url, token }: { url: string; token: string }, conversation: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${token}` },
  })
  const answered = new Map<string, () => void>()
  const subscribed = Promise.withResolvers<void>()
  let [seq, missed] = [0, 0]
  socket.on('message', data => {
    const text = data.toString()
    if (text.startsWith('{"type":"subscribed"')) subscribed.resolve()
    if (!text.startsWith('{"type":"message"')) return
    const { message } = JSON.parse(text) as { message: ChatMessage }
    if (message.seq !== seq + 1) missed++
    seq = message.seq
    const about = message.kind === 'user' ? message.clientId : undefined
    if (about !== undefined && answered.has(about)) own.set(message.id, about)
    for (const id of message.kind === 'agent' ? (message.inReplyTo ?? []) : [])
      answered.get(own.get(id) ?? '')?.()
  })
  const own = new Map<string, string>()
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'subscribe', conversation, after: 0 }))
  await subscribed.promise
  return {
    socket,
    missed: () => missed,
    /** Resolves with the milliseconds to the reply. */
    async ask(text: string): Promise<number> {
      const began = performance.now()
      const reply = Promise.withResolvers<void>()
      answered.set(text, reply.resolve)
      socket.send(JSON.stringify({ type: 'message', conversation, text, clientId: text }))
      await reply.promise
      answered.delete(text)
      return performance.now() - began
    },
  }
}

async function callTools(clients: readonly TestClient[], until: number) {
  const took: number[] = []
  let failed = 0
  await Promise.all(
    clients.map(async (client, index) => {
      await pause((index * CALL_EVERY_MS) / clients.length)
      while (performance.now() < until) {
        const began = performance.now()
        const result = await client.call('hub_list_agents').catch(() => ({ isError: true }))
        if (result.isError) failed++
        took.push(performance.now() - began)
        await pause(CALL_EVERY_MS)
      }
    }),
  )
  return { took, failed }
}

async function sampleMemory(pid: number, until: number, memory: number[]): Promise<void> {
  while (performance.now() < until) {
    await pause(5_000)
    memory.push(rssOf(pid))
  }
}

const rssOf = (pid: number) => Math.round(memoryOf(pid).rss)
