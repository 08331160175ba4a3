import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { compileCache } from '../../servers/kit/testing/compile-cache.ts'
import { createRecord, within } from './until.ts'

const LAUNCHER = fileURLToPath(new URL('../../bin/superbloom.js', import.meta.url))

export interface RunOptions {
  /** Environment variables; of this process's own, only PATH and HOME are passed on. */
  variables?: Record<string, string>
  /** The whole standard input, which then ends; without it the input stays open and empty. */
  input?: string
  cwd?: string
}

export interface Ended {
  /** The exit code, or the name of the signal that ended the program. */
  code: number | NodeJS.Signals
  stdout: string
  stderr: string
}

/** A running program; disposing kills it. */
export interface Running extends AsyncDisposable {
  readonly pid: number
  readonly stdin: NodeJS.WritableStream
  /** The output so far. */
  readonly stdout: string
  readonly stderr: string
  /** Resolves when its output matches. */
  says(words: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  ended(): Promise<Ended>
}

export function start(command: string, args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...compileCache(), ...options.variables },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd ? { cwd: options.cwd } : {}),
  })
  const output = { stdout: '', stderr: '' }
  const pieces = createRecord<string>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', text => {
      output[name] += text
      pieces.add(text)
    })
  }
  child.stdin.on('error', () => undefined)
  if (options.input !== undefined) child.stdin.end(options.input)
  const closed = once(child, 'close')
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin,
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    async says(words) {
      const look = () => words.exec(output.stdout) ?? words.exec(output.stderr)
      if (!look()) await pieces.find(`${args.join(' ')} says ${words}`, () => look() !== null)
      return look() as RegExpExecArray
    },
    kill: signal => void child.kill(signal),
    async ended() {
      const [code, signal] = await within(`${args.join(' ')} ends`, closed, 60_000)
      return { code: code ?? signal, ...output }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await closed
    },
  }
}

/** Starts `superbloom` as a user would, with the given Node. */
export function startCli(args: readonly string[], options: RunOptions & { node?: string } = {}): Running {
  return start(options.node ?? process.execPath, [LAUNCHER, ...args], options)
}

/** Runs `superbloom` and waits for its end. */
export async function runCli(
  args: readonly string[],
  options: RunOptions & { node?: string } = {},
): Promise<Ended> {
  await using running = startCli(args, { input: '', ...options })
  return await running.ended()
}

/** The launcher's path, for clients that start a process themselves. */
export const launcher = LAUNCHER
