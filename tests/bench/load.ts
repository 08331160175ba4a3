import { setTimeout as pause } from 'node:timers/promises'
import type { HubFrame } from '../../schemas/chat.ts'
import { type ChatClient, openChat } from '../support/chat-client.ts'
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

interface Follower {
  chat: ChatClient
  conversation: string
}

/** Measures 1,000 chats and 200 MCP clients that work at once for ten minutes. */
export async function load(): Promise<Record<string, number>> {
  await using provider = await openSlowProvider()
  const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`)
  await using hub = await openHubProcess({ provider: provider.url, agents })
  let dropped = 0
  let isOver = false
  const chats: Follower[] = await inTurns(CHATS, async index => {
    const conversation = `agent-${index % AGENTS}/c${Math.floor(index / FOLLOWERS)}`
    const chat = await openChat(hub)
    chat.socket.on('close', () => (dropped += isOver ? 0 : 1))
    await chat.subscribe(conversation, 0)
    return { chat, conversation }
  })
  const clients = await inTurns(CLIENTS, index => openClient(LINES[index % LINES.length] ?? LINES[0], hub))
  await pause(5_000)
  const memory = [rssOf(hub.pid)]
  const until = performance.now() + MINUTES * 60_000
  const sampling = sampleMemory(hub.pid, until, memory)
  const [replies, calls] = await Promise.all([talk(chats, until), callTools(clients, until)])
  await sampling
  const missed = countMissed(chats)
  isOver = true
  for (const { chat } of chats) chat.socket.terminate()
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
    if (follower) waits.push(ask(follower, turn))
    await pause(MESSAGE_EVERY_MS)
  }
  return Promise.all(waits)
}

async function ask({ chat, conversation }: Follower, turn: number): Promise<number> {
  const began = performance.now()
  const sent = await chat.say(conversation, `turn ${turn}`, `turn-${turn}`)
  await chat.answerTo(sent)
  return performance.now() - began
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

/** Counts gaps and repeats in what each client got of its conversation. */
function countMissed(chats: readonly Follower[]): number {
  const seqs = ({ chat }: Follower) =>
    chat.frames.all.flatMap((frame: HubFrame) => (frame.type === 'message' ? [frame.message.seq] : []))
  return chats.map(seqs).reduce((sum, all) => sum + all.filter((seq, index) => seq !== index + 1).length, 0)
}

async function sampleMemory(pid: number, until: number, memory: number[]): Promise<void> {
  while (performance.now() < until) {
    await pause(5_000)
    memory.push(rssOf(pid))
  }
}

const rssOf = (pid: number) => Math.round(memoryOf(pid).rss)
