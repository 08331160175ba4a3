import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import type { HubFrame } from '../../../schemas/chat.ts'
import { childEnvironment } from '../../config/environment.ts'
import { codeFile } from '../../config/paths.ts'
import { sleep, systemClock } from '../../core/clock.ts'
import { describeError, HubError } from '../../core/errors.ts'
import type { Homelab } from '../../demo/homelab-story.ts'
import { type House, openHouse } from '../../demo/house.ts'
import { callHub } from '../call-hub.ts'
import { openChatSocket } from '../chat-socket.ts'
import { findRunning, type RunningHub } from '../find-hub.ts'
import { print } from '../print.ts'

const HELP = `
A simulated homelab. Open the address above, or watch here. Nothing outside this machine is touched.

  1  somebody writes that the game server is slow: the downloads pause, and go on later or once nobody plays
  2  the CPU gets hot, or cools down: one warning, another look later
  3  the last player leaves the game server: it is stopped a while later. Again: somebody comes back
  q  ends everything

Type a number and Enter.
`
/** Milliseconds that each part of a story may take, and between two looks at it. */
const LONGEST_MS = 60_000
const LOOK_MS = 50

interface Options {
  play?: boolean
}

export function define(command: Command): void {
  command
    .option(
      '--play',
      'play all three stories, which takes half a minute, and end; exit code 1 if one went wrong',
    )
    .action(demo)
}

/** Runs a hub with a simulated homelab, both in a folder that is deleted at the end. */
async function demo(options: Options): Promise<void> {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => ending.abort(new HubError('unavailable', `Ended by ${signal}`)))
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-demo-'))
  try {
    await runIn(folder, options, ending)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runIn(folder: string, { play }: Options, ending: AbortController): Promise<void> {
  const { signal } = ending
  const times = play ? { pause: '5s', cool: '4s', idle: '5s' } : { pause: '2m', cool: '1m', idle: '1m' }
  const home: Homelab = { server: 'lab-arena', channel: 'phone', ...times }
  const onMessage = ({ message }: { message: string }) => print(`(the phone shows) ${message}`)
  await using house = await openHouse({ folder, home, onMessage })
  await using hub = await startHub(house.env, join(folder, 'data'), ending)
  using chat = openChatSocket(() => hub, 'homelab', {
    onFrame: show,
    onState: () => undefined,
    onRefused: why => ending.abort(new HubError('unauthorized', why)),
  })
  const startGame = () =>
    until('the game server starts', () => callHub(hub, 'start_game_server', { server: home.server }), signal)
  await startGame()
  await house.player('join', 'Ada')
  const stories = createStories(house, startGame, text => chat.send(text))
  if (play) return await playAll(house, stories, signal)
  print(HELP)
  for await (const line of createInterface({ input: process.stdin, signal })) {
    if (line.trim() === 'q') return
    const story = stories[line.trim() as keyof typeof stories]
    if (story) await story()
    else print(HELP)
  }
}

/** Starts a hub in a process of its own, which gets none of the person's settings. Its end ends the demo. */
async function startHub(
  env: Readonly<Record<string, string>>,
  dataFolder: string,
  ending: AbortController,
): Promise<RunningHub & AsyncDisposable> {
  const child = spawn(process.execPath, [codeFile('hub/cli/superbloom.ts'), 'start'], {
    cwd: join(dataFolder, '..'),
    env: { ...childEnvironment(), SUPERBLOOM_PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  child.once('exit', code => ending.abort(new HubError('unavailable', `The hub of the demo ended (${code})`)))
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  try {
    const find = () => findRunning({ dataFolder, token: undefined })
    const hub = await until('the hub listens', find, ending.signal)
    return { ...hub, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Stories = Readonly<Record<'1' | '2' | '3', () => Promise<void>>>

function createStories(
  house: House,
  startGame: () => Promise<unknown>,
  say: (text: string) => void,
): Stories {
  let isHot = false
  let isPlaying = true
  return {
    async 1() {
      say('The game server is slow')
    },
    async 2() {
      isHot = !isHot
      house.host.setTemperature(isHot ? 91 : 52)
      print(`(the CPU is at ${isHot ? 91 : 52} °C now)`)
    },
    async 3() {
      if (!(await house.isGameUp())) await startGame()
      isPlaying = !isPlaying
      await house.player(isPlaying ? 'join' : 'leave', 'Ada')
      print(isPlaying ? '(Ada plays)' : '(Ada left)')
    },
  }
}

function show(frame: HubFrame): void {
  if (frame.type === 'message') {
    const { kind, author, text } = frame.message
    print(`${kind === 'user' ? author : `[${kind}] ${author}`}: ${text}`)
  }
  if (frame.type === 'tool' && frame.call.status === 'started') print(`  … ${frame.call.tool}`)
}

/** Plays each story to its end. */
async function playAll(
  { sabnzbd, ntfy, model, host, isGameUp }: House,
  stories: Stories,
  signal: AbortSignal,
) {
  await stories[1]()
  await until('the downloads pause', () => sabnzbd.paused, signal)
  await until('the downloads go on', () => !sabnzbd.paused, signal)
  await until('a message comes', () => ntfy.published.length === 1, signal)
  const before = model.asked
  await stories[2]()
  await until('a warning comes', () => ntfy.published.length === 2, signal)
  host.setTemperature(52)
  await until('the model sees that it cooled down', () => model.asked >= before + 5, signal)
  await stories[3]()
  await until('the empty server is stopped', async () => !(await isGameUp()), signal)
  print('All three stories ended as they should.')
}

/** Resolves with the first value that is neither undefined nor false; an error of the hub counts as not yet. */
async function until<Value>(
  what: string,
  check: () => Value | Promise<Value>,
  signal: AbortSignal,
): Promise<Exclude<Value, undefined | false>> {
  const ends = systemClock.monotonic() + LONGEST_MS
  let why = 'it did not happen'
  while (systemClock.monotonic() < ends) {
    try {
      const value = await check()
      if (value !== undefined && value !== false) return value as Exclude<Value, undefined | false>
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      why = describeError(error)
    }
    await sleep(systemClock, LOOK_MS, signal)
  }
  throw new HubError('timeout', `Waited ${LONGEST_MS / 1000} s until ${what}: ${why}`)
}
