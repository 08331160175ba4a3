import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram } from '../../support/program.ts'
import { freePort, INSTALLED } from './scratch.ts'

const VERSION = '1.68.0'
/** 455 MB with the data of all versions of the game, which is why it is no package of this repository. */
const FOLDER = join(INSTALLED, `minecraft-protocol-${VERSION}`)
const PROGRAM = fileURLToPath(new URL('./minecraft-program.mjs', import.meta.url))

/** A Minecraft server of others' code, and players for it. */
export interface MinecraftServer extends AsyncDisposable {
  readonly port: number
  join(name: string): void
  leave(name: string): void
}

/** Installs minecraft-protocol at the first call: about ten seconds. */
export async function startMinecraft(): Promise<MinecraftServer> {
  install()
  const port = await freePort()
  const program = await startProgram(process.execPath, [PROGRAM, FOLDER, String(port)], { input: true })
  const tell = (line: string) => void program.child.stdin?.write(`${line}\n`)
  try {
    await program.says(/listening/)
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
  return {
    port,
    join: name => tell(`join ${name}`),
    leave: name => tell(`leave ${name}`),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/** Other test runs may do the same at the same time: whoever is first puts its folder into the place. */
function install(): void {
  if (existsSync(FOLDER)) return
  mkdirSync(INSTALLED, { recursive: true })
  const folder = mkdtempSync(join(INSTALLED, 'making-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--loglevel=error']
    execFileSync('npm', ['install', ...options, `minecraft-protocol@${VERSION}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    if (!existsSync(FOLDER)) renameSync(folder, FOLDER)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
