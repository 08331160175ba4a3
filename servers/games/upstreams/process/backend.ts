import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { type Clock, sleep } from '../../../kit/clock.ts'
import { ToolFailure } from '../../../kit/failure.ts'
import { describeError } from '../../../kit/log.ts'
import type { Backend, BackendState } from '../../game.ts'
import { isCrashCode, MISSING } from '../state.ts'
import { readGroupUse } from './group-use.ts'

const KEPT_LINES = 1000
/** Characters kept of a line. */
const LONGEST = 4000
/** Most seconds that a game gets to end when this server ends. */
const LAST_SECONDS = 5

export interface ProcessSettings {
  command: string
  args: readonly string[]
  cwd: string | undefined
  env: Readonly<Record<string, string>>
}

/** A game that this server starts itself, as a process group of its own. Disposal ends it. */
export interface ProcessBackend extends Backend, AsyncDisposable {}

export interface ProcessDeps {
  clock: Clock
  /** Environment of the game besides its own settings. */
  env: Readonly<Record<string, string>>
}

interface Run {
  child: ChildProcess
  asked: boolean
  startedAt: number
  /** Resolves when it has ended and `last` is set. */
  ended: Promise<void>
}

interface End {
  at: number
  exitCode: number | undefined
  /** True if a stop of this server ended it: then no exit code is a failure. */
  asked: boolean
}

export function createProcessBackend(settings: ProcessSettings, deps: ProcessDeps): ProcessBackend {
  const { clock } = deps
  let lines: string[] = []
  const keep = (line: string) => {
    lines = [...lines.slice(1 - KEPT_LINES), line.slice(0, LONGEST)]
  }
  let run: Run | undefined
  let last: End | undefined
  let starting: Promise<boolean> | undefined

  const launch = async (): Promise<boolean> => {
    const child = await spawnGroup(settings, deps.env, keep)
    const ended = untilEnded(child).then(exitCode => {
      last = { at: clock.now(), exitCode, asked: run?.asked ?? false }
      run = undefined
      killRest(child)
    })
    run = { child, asked: false, startedAt: clock.now(), ended }
    return true
  }
  const start = async (): Promise<boolean> => {
    if (run || starting) return false
    starting = launch().finally(() => {
      starting = undefined
    })
    return starting
  }
  const stop = async (graceSeconds: number, signal?: AbortSignal): Promise<boolean> => {
    await starting?.catch(() => false)
    if (!run) return false
    run.asked = true
    const { child, ended } = run
    signalGroup(child, 'SIGTERM')
    if (!(await endsWithin(ended, graceSeconds * 1000, clock, signal))) signalGroup(child, 'SIGKILL')
    await ended
    return true
  }
  return {
    kind: 'process',
    where: `process ${settings.command}`,
    state: async () => toState(run, last),
    start,
    stop,
    async restart(graceSeconds, signal) {
      await stop(graceSeconds, signal)
      await start()
    },
    logs: async count => lines.slice(-count),
    use: async signal =>
      run?.child.pid === undefined ? undefined : readGroupUse(run.child.pid, clock, signal),
    [Symbol.asyncDispose]: async () => void (await stop(LAST_SECONDS)),
  }
}

async function spawnGroup(
  { command, args, cwd, env }: ProcessSettings,
  base: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): Promise<ChildProcess> {
  const child = spawn(command, [...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...base, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine)
  try {
    await once(child, 'spawn')
    return child
  } catch (error) {
    throw new ToolFailure(
      {
        what: `The process ${command} could not be started.`,
        where: cwd === undefined ? command : `${command} in ${cwd}`,
        why: describeError(error),
        fix: 'Check command and cwd in its settings: both must exist, and this user must be allowed to run it.',
      },
      { cause: error },
    )
  }
}

/** Resolves with the exit code; for an end by a signal with 128 plus its number, as in a shell. */
async function untilEnded(child: ChildProcess): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  child.once('exit', (code, signal) =>
    resolve(code ?? (signal === null ? undefined : 128 + constants.signals[signal])),
  )
  return promise
}

async function endsWithin(
  ended: Promise<void>,
  milliseconds: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<boolean> {
  const giveUp = new AbortController()
  const either = signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal
  try {
    return await Promise.race([ended.then(() => true), sleep(clock, milliseconds, either).then(() => false)])
  } finally {
    giveUp.abort()
  }
}

/** Signals the whole group, since a script that starts a game does not pass signals on. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Kills the remaining processes of the group, as far as this user may. */
function killRest(child: ChildProcess): void {
  try {
    signalGroup(child, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}

function toState(run: Run | undefined, last: End | undefined): BackendState {
  if (run) return { ...MISSING, state: 'running', detail: 'running', startedAt: run.startedAt }
  if (!last) return { ...MISSING, state: 'stopped', detail: 'not started yet by this server' }
  const { at, exitCode, asked } = last
  return {
    ...MISSING,
    state: !asked && isCrashCode(exitCode, false) ? 'failed' : 'stopped',
    detail: exitCode === undefined ? 'ended' : `ended with code ${exitCode}`,
    stoppedAt: at,
    exitCode,
  }
}
