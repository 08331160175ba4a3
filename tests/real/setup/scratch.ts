import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, type ProgramOptions, startProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'

/** The folder outside the repository for what is installed once and used by all later runs. */
export const INSTALLED = join(tmpdir(), 'superbloom-real')

/** A real program that runs in its own folder. Disposing ends it and removes the folder. */
export interface RealProgram extends AsyncDisposable {
  /** "http://127.0.0.1:40123". */
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly program: Program
}

/** Returns a port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  const address = server.address()
  const closed = Promise.withResolvers<void>()
  server.close(() => closed.resolve())
  await closed.promise
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}

export interface StartOptions {
  name: string
  /** The IPv4 address at which it listens; default 127.0.0.1. */
  address?: string
  /** Writes the program's files and returns how to start it. */
  prepare(place: { folder: string; port: number; address: string }): {
    command: string
    args: string[]
    options?: ProgramOptions
  }
  /** Tells whether it answers. */
  isReady(url: string): Promise<boolean>
}

/** Starts a program that listens on one port, and waits until it answers. */
export async function startReal({
  name,
  address = '127.0.0.1',
  prepare,
  isReady,
}: StartOptions): Promise<RealProgram> {
  const folder = mkdtempSync(join(tmpdir(), `superbloom-${name}-`))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  const port = await freePort()
  const url = `http://${address}:${port}`
  const { command, args, options } = prepare({ folder, port, address })
  const program = opened.use(await startProgram(command, args, options))
  await until(`${name} answers`, async () => {
    const { exitCode } = program.child
    if (exitCode !== null)
      throw new Error(`${name} ended with ${exitCode}: ${program.stdout}${program.stderr}`)
    return isReady(url).catch(() => false)
  })
  const owned = opened.move()
  return { url, port, folder, program, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
