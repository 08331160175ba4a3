import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { HubFrame } from '../../schemas/chat.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { until } from '../support/until.ts'
import type { Homelab } from './homelab-story.ts'
import { type House, openHouse } from './house.ts'

/*
 * The hub with a simulated homelab, and its three stories to watch. `--play` plays all of them and exits,
 * with 1 if a story ended wrongly.
 */

const root = join(import.meta.dirname, '..', '..')
const HELP = `
A simulated homelab. Open the address above, or watch here. Nothing outside this machine is touched.

  1  somebody writes that the game server is slow: the downloads pause, and go on later or once nobody plays
  2  the CPU gets hot, or cools down: one warning, another look later
  3  the last player leaves the game server: it is stopped a while later. Again: somebody comes back
  q  ends everything

Type a number and Enter.
`

const { values } = parseArgs({ options: { play: { type: 'boolean', default: false } } })
const home: Homelab = {
  server: 'lab-arena',
  channel: 'phone',
  ...(values.play ? { pause: '5s', cool: '4s', idle: '5s' } : { pause: '2m', cool: '1m', idle: '1m' }),
}

const folder = mkdtempSync(join(tmpdir(), 'superbloom-demo-'))
try {
  await run()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function run(): Promise<void> {
  await using house = await openHouse({
    folder,
    home,
    onMessage: ({ message }) => process.stdout.write(`(the phone shows) ${message}\n`),
  })
  await using hub = await startHub(house.env)
  using chat = await openChat(hub)
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  await chat.subscribe('homelab', 0)
  chat.socket.on('message', data => show(JSON.parse(String(data)) as HubFrame))
  await until('the game server is up', async () => {
    const { isError } = await client.call('start_game_server', { server: home.server })
    return !isError
  })
  await house.player('join', 'Ada')
  const stories = createStories(house, text => chat.say('homelab', text))
  if (values.play) return await play(house, stories)
  process.stdout.write(HELP)
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === 'q') return
    await (stories[line.trim()]?.() ?? process.stdout.write(HELP))
  }
}

interface Running extends AsyncDisposable {
  url: string
  token: string
}

async function startHub(env: Readonly<Record<string, string>>): Promise<Running> {
  const data = join(folder, 'data')
  const child = spawn(process.execPath, [join(root, 'bin/superbloom.js'), 'start'], {
    cwd: folder,
    env: { ...process.env, SUPERBLOOM_PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  const info = await until('the hub listens', () => {
    if (child.exitCode !== null) throw new Error(`The hub ended with ${child.exitCode}`)
    const file = join(data, 'hub.json')
    return existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { url: string })
  })
  const token = readFileSync(join(data, 'token'), 'utf8').trim()
  return { url: info.url, token, [Symbol.asyncDispose]: stop }
}

type Stories = Readonly<Record<string, () => Promise<unknown>>>

function createStories(house: House, say: (text: string) => Promise<unknown>): Stories {
  let isHot = false
  let isPlaying = true
  return {
    1: () => say('The game server is slow'),
    async 2() {
      isHot = !isHot
      house.host.setTemperature(isHot ? 91 : 52)
      process.stdout.write(isHot ? '(the CPU is at 91 °C now)\n' : '(the CPU is at 52 °C now)\n')
    },
    async 3() {
      isPlaying = !isPlaying
      await house.player(isPlaying ? 'join' : 'leave', 'Ada')
      process.stdout.write(isPlaying ? '(Ada plays)\n' : '(Ada left)\n')
    },
  }
}

function show(frame: HubFrame): void {
  if (frame.type === 'message') {
    const { kind, author, text } = frame.message
    process.stdout.write(`${kind === 'user' ? author : `[${kind}] ${author}`}: ${text}\n`)
  }
  if (frame.type === 'tool' && frame.call.status === 'started')
    process.stdout.write(`  … ${frame.call.tool}\n`)
}

/** Plays each story to its end. */
async function play({ sabnzbd, ntfy, model, host, isGameUp }: House, stories: Stories): Promise<void> {
  const asked = (count: number) => until(`the model was asked ${count} times`, () => model.asked >= count)
  await stories['1']?.()
  await until('the downloads pause', () => sabnzbd.paused)
  await until('the downloads go on', () => !sabnzbd.paused)
  await until('a message came', () => ntfy.published.length === 1)
  const before = model.asked
  await stories['2']?.()
  await until('a warning came', () => ntfy.published.length === 2)
  host.setTemperature(52)
  await asked(before + 5)
  await stories['3']?.()
  await until('the empty server is stopped', async () => !(await isGameUp()), { within: 60_000 })
  process.stdout.write('All three stories ended as they should.\n')
}
