import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { INSTALLED, type RealProgram, startReal } from './scratch.ts'

/** ioquake3 with one map of OpenArena, made once: 3 MB of the 68 MB that are downloaded. */
const BASE = join(INSTALLED, 'ioquake3-1')
export const PROGRAMS = '/usr/lib/ioquake3'
const DATA = 'usr/share/games/openarena/baseoa'

export const RCON_PASSWORD = 'labrcon'

/**
 * Returns the command of a server on this port, by default of 127.0.0.1; `home` is its own folder, `base` has
 * its files.
 */
export function toIoquake3Command(
  home: string,
  port: number,
  { base = installIoquake3(), address = '127.0.0.1' } = {},
): { command: string; args: string[] } {
  const settings = {
    fs_basepath: base,
    fs_homepath: home,
    com_standalone: '1',
    com_basegame: 'labgame',
    dedicated: '1',
    net_enabled: '1',
    net_ip: address,
    net_port: String(port),
    vm_game: '0',
    sv_pure: '0',
    com_hunkMegs: '64',
    rconPassword: RCON_PASSWORD,
    sv_hostname: 'Lab Q3',
    sv_maxclients: '8',
    bot_enable: '1',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['+set', name, value])
  return { command: join(PROGRAMS, 'ioq3ded'), args: [...args, '+map', 'aggressor'] }
}

/** Starts a Quake 3 server with bots and rcon. */
export function startIoquake3(): Promise<RealProgram> {
  return startReal({
    name: 'ioquake3',
    prepare: ({ folder, port }) => toIoquake3Command(folder, port),
    isReady: url => answersStatus(Number(new URL(url).port)),
  })
}

/**
 * Makes the folder with the game's files if it is missing; returns its path. Other test runs may do this at
 * the same time: the first one moves its folder into place.
 */
export function installIoquake3(): string {
  if (existsSync(BASE)) return BASE
  mkdirSync(INSTALLED, { recursive: true })
  const folder = mkdtempSync(join(INSTALLED, 'making-'))
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    run('apt-get', 'download', '-qq', 'openarena-081-maps', 'openarena-081-misc')
    for (const file of readdirSync(folder)) run('dpkg', '-x', file, 'openarena')
    const game = join(folder, 'base/labgame')
    mkdirSync(game, { recursive: true })
    const code = readdirSync(join(PROGRAMS, 'baseq3')).find(name => name.startsWith('qagame'))
    if (code === undefined) throw new Error('ioquake3-server has no game code')
    copyFileSync(join(PROGRAMS, 'baseq3', code), join(game, code))
    // An empty file ends the server.
    writeFileSync(join(game, 'default.cfg'), 'set sv_pure 0\n')
    const from = (name: string) => join(folder, 'openarena', DATA, name)
    run('unzip', '-qo', from('pak1-maps.pk3'), 'maps/aggressor.bsp', '-d', game)
    run(
      'unzip',
      '-qo',
      from('pak6-misc.pk3'),
      'botfiles/*',
      'scripts/bots.txt',
      'maps/aggressor.aas',
      '-d',
      game,
    )
    if (!existsSync(BASE)) renameSync(join(folder, 'base'), BASE)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return BASE
}

async function answersStatus(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  const answered = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => answered.resolve(false), 200)
  socket.on('message', () => answered.resolve(true)).on('error', () => answered.resolve(false))
  socket.connect(port, '127.0.0.1', () => socket.send(Buffer.from('\xff\xff\xff\xffgetstatus', 'latin1')))
  return await answered.promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}
