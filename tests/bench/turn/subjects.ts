import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'

const root = join(import.meta.dirname, '../../..')

/** A process that takes messages and stores replies. */
export interface Subject extends AsyncDisposable {
  readonly name: string
  readonly pid: number
  /** Resolves with the milliseconds from the message to its stored reply. */
  turn(conversation: string, text: string): Promise<number>
}

interface Started {
  child: ChildProcess
  /** Resolves with the first line that it prints, when it is ready. */
  ready: Promise<string>
  /** Receives the lines after the first. */
  onLine: (line: string) => void
}

function start(args: string[], env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  })
  if (!child.stdout) throw new Error('The child has no output')
  const first = Promise.withResolvers<string>()
  const started: Started = { child, ready: first.promise, onLine: line => first.resolve(line) }
  createInterface({ input: child.stdout }).on('line', line => started.onLine(line))
  child.once('exit', code => first.reject(new Error(`The child ended with ${code} before it was ready`)))
  return started
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}

export async function startProvider(): Promise<AsyncDisposable & { url: string }> {
  const started = start([join(import.meta.dirname, 'provider.ts')])
  const url = await started.ready
  return { url, [Symbol.asyncDispose]: () => end(started.child) }
}

export async function startBareLoop(baseUrl: string, folder: string): Promise<Subject> {
  const started = start([join(import.meta.dirname, 'bare-loop.ts'), baseUrl, folder])
  await started.ready
  const waiting = new Map<string, () => void>()
  started.onLine = conversation => waiting.get(conversation)?.()
  return {
    name: 'bare loop',
    pid: started.child.pid ?? 0,
    async turn(conversation, text) {
      const begun = performance.now()
      const stored = Promise.withResolvers<void>()
      waiting.set(conversation, stored.resolve)
      started.child.stdin?.write(`${conversation} ${text}\n`)
      await stored.promise
      return performance.now() - begun
    },
    async [Symbol.asyncDispose]() {
      await end(started.child)
    },
  }
}

/** Starts the built hub with one agent for each conversation, connected by its WebSocket. */
export async function startHubSubject(baseUrl: string, folder: string, agents: string[]): Promise<Subject> {
  const agentsFolder = join(folder, 'agents')
  const data = join(folder, 'data')
  mkdirSync(agentsFolder, { recursive: true })
  for (const name of agents)
    writeFileSync(join(agentsFolder, `${name}.md`), 'You are a helpful homelab agent.\n')
  const started = start([join(root, 'dist/hub/cli/superbloom.js'), 'start'], {
    SUPERBLOOM_PORT: '0',
    SUPERBLOOM_DATA: data,
    SUPERBLOOM_AGENTS: agentsFolder,
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: 'bench',
    SUPERBLOOM_MODEL: 'bench',
    LOG_LEVEL: 'error',
  })
  await started.ready
  const { url } = JSON.parse(readFileSync(join(data, 'hub.json'), 'utf8')) as { url: string }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, 'superbloom.v1', {
    headers: { Authorization: `Bearer ${readFileSync(join(data, 'token'), 'utf8').trim()}` },
  })
  const replied = new Map<string, () => void>()
  const welcomed = Promise.withResolvers<void>()
  socket.on('message', data => {
    const frame = JSON.parse(data.toString())
    if (frame.type === 'welcome') welcomed.resolve()
    if (frame.type === 'error') throw new Error(frame.message)
    if (frame.type === 'message' && frame.message.kind === 'agent')
      replied.get(frame.message.conversation)?.()
  })
  await welcomed.promise
  for (const conversation of agents) socket.send(JSON.stringify({ type: 'subscribe', conversation }))
  return {
    name: 'superbloom',
    pid: started.child.pid ?? 0,
    async turn(conversation, text) {
      const begun = performance.now()
      const stored = Promise.withResolvers<void>()
      replied.set(conversation, stored.resolve)
      socket.send(JSON.stringify({ type: 'message', conversation, text }))
      await stored.promise
      return performance.now() - begun
    },
    async [Symbol.asyncDispose]() {
      socket.close()
      await end(started.child)
    },
  }
}
