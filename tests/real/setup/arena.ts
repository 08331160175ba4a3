import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sendRcon } from '../../../hub/demo/rcon.ts'
import { until } from '../../support/until.ts'
import type { Daemon } from './dockerd.ts'
import { installIoquake3, PROGRAMS, RCON_PASSWORD, toIoquake3Command } from './ioquake3.ts'
import { freePort } from './scratch.ts'

const IMAGE = 'lab/ioquake3:latest'
const BASE = '/game'
const BOTS = ['sarge', 'grunt', 'major', 'penguin', 'grism', 'jenna', 'tony']

/** A Quake 3 server in a container called "arena". Its engine removes it. */
export interface Arena {
  readonly port: number
  /** Replaces the container by a new one that answers and has no players. */
  renew(): Promise<void>
  /** Returns the engine's state of the container: "running", "exited". */
  state(): Promise<string>
  /** Adds a bot, which joins as a person would. Resolves once the game lists it. */
  join(): Promise<void>
  /** Adds players until one is seen: a watcher's first probe raises nothing, and may come after the first player. */
  joinUntil(isSeen: () => Promise<boolean>, within?: number): Promise<void>
  /** Removes all players. */
  leave(): Promise<void>
}

export interface ArenaNetwork {
  /** The address at which the test reaches the game. */
  address: string
  /** The address at which the game listens in its container. */
  inside: string
  /** The options of `docker run`. */
  options(port: number): string[]
}

const OF_THE_HOST: ArenaNetwork = {
  address: '127.0.0.1',
  inside: '127.0.0.1',
  options: () => ['--network=host'],
}

/** Builds the image: Debian's ioq3ded, the libraries that it needs, one map and the bots. */
export async function openArena(daemon: Daemon, network = OF_THE_HOST): Promise<Arena> {
  await importImage(daemon)
  const port = await freePort()
  const { address, inside, options } = network
  const { command, args } = toIoquake3Command('/tmp', port, { base: BASE, address: inside })
  // The game answers this whole machine ten requests at once and then one a second: ask rarely, and again if it
  // was silent.
  const rcon = (line: string, answer: RegExp) =>
    until(`the game answers ${line}`, async () =>
      answer.test(await sendRcon({ address, port, password: RCON_PASSWORD }, line).catch(() => '')),
    )
  let playing = 0
  const join = async () => {
    await rcon(`addbot ${BOTS[playing]} 1`, /^ClientBegin: /m)
    playing++
  }
  return {
    port,
    async renew() {
      await daemon.docker('rm', '-f', 'arena').catch(() => undefined)
      await daemon.docker('run', '-d', '--name=arena', ...options(port), IMAGE, command, ...args)
      await rcon('status', /^map: aggressor$/m)
      playing = 0
    },
    state: () => daemon.docker('inspect', '-f', '{{.State.Status}}', 'arena'),
    join,
    async joinUntil(isSeen, within = 4_000) {
      await until('a player is seen', async () => {
        await join()
        return await until('this one is seen', isSeen, { within }).catch(() => false)
      })
    },
    async leave() {
      await rcon('kick allbots', /^ClientDisconnect: /m)
      playing = 0
    },
  }
}

async function importImage(daemon: Daemon): Promise<void> {
  const base = installIoquake3()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-arena-'))
  const root = join(folder, 'root')
  const add = (from: string, to = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(from, join(root, to), { recursive: true, dereference: true })
  }
  try {
    const program = join(PROGRAMS, 'ioq3ded')
    mkdirSync(join(root, 'tmp'), { recursive: true })
    for (const file of [program, ...librariesOf(program)]) add(file)
    add(base, BASE)
    const archive = join(folder, 'arena.tar')
    execFileSync('tar', ['-C', root, '-cf', archive, '.'])
    await daemon.docker('import', archive, IMAGE)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...lines.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? [])
}
