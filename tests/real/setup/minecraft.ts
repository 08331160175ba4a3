import { fileURLToPath } from 'node:url'
import { startProgram } from '../../support/program.ts'
import { installPackages } from './npm-packages.ts'
import { freePort } from './scratch.ts'

/** 455 MB with the data of all versions of the game, so it is not a package of this repository. */
const PACKAGES = { 'minecraft-protocol': '1.68.0' }
const PROGRAM = fileURLToPath(new URL('./minecraft-program.mjs', import.meta.url))

/** A third-party Minecraft server and its players. */
export interface MinecraftServer extends AsyncDisposable {
  readonly port: number
  join(name: string): void
  leave(name: string): void
}

/** Starts the server; the first call installs minecraft-protocol, in about ten seconds. */
export async function startMinecraft(): Promise<MinecraftServer> {
  const folder = installPackages(PACKAGES)
  const port = await freePort()
  const program = await startProgram(process.execPath, [PROGRAM, folder, String(port)], { input: true })
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
