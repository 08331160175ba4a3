import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { CommandResult, RunCommand } from './command.ts'
import { explainSystemctl, explainSystemd } from './explain.ts'
import { type Facts, PROPERTIES, toFacts } from './unit-facts.ts'

export interface Unit {
  unit: string
  /** True for a unit of the user's own manager. */
  user: boolean
}

/** One unit through systemctl and journalctl. Every call fails with UpstreamFailure. */
export interface Systemctl {
  /** The unit in messages: "unit minecraft.service". */
  readonly where: string
  show(signal?: AbortSignal): Promise<Facts>
  /** Requests a start or a stop, and does not wait for it. */
  act(verb: 'start' | 'stop', signal?: AbortSignal): Promise<void>
  /** Kills all its processes at once; `forget` then resets the failed state that this causes. */
  kill(signal?: AbortSignal): Promise<void>
  forget(signal?: AbortSignal): Promise<void>
  log(lines: number, signal?: AbortSignal): Promise<string[]>
}

/**
 * Creates the client. `env` has the variables by which systemctl finds its manager: PATH, and XDG_RUNTIME_DIR
 * for user units.
 */
export function createSystemctl(
  { unit, user }: Unit,
  { run, env }: { run: RunCommand; env: Readonly<Record<string, string>> },
): Systemctl {
  const where = `${user ? 'user unit' : 'unit'} ${unit}`
  const call = async (program: string, args: readonly string[], signal?: AbortSignal) => {
    try {
      return await run(program, args, { env, signal })
    } catch (error) {
      throw explainSystemd(error, program, where)
    }
  }
  const ask = async (verb: string, options: readonly string[], signal?: AbortSignal) => {
    const scope = user ? ['--user'] : []
    const result = await call('systemctl', [...scope, verb, ...options, '--', unit], signal)
    if (result.code !== 0) throw explainSystemctl(result, verb, where, user)
    return result.stdout
  }
  const silent = '--no-ask-password'
  return {
    where,
    show: async signal => toFacts(await ask('show', ['--timestamp=unix', '-p', PROPERTIES], signal)),
    act: async (verb, signal) => void (await ask(verb, [silent, '--no-block'], signal)),
    kill: async signal => void (await ask('kill', [silent, '--signal=SIGKILL'], signal)),
    forget: async signal => void (await ask('reset-failed', [silent], signal)),
    async log(lines, signal) {
      const which = [user ? '--user-unit' : '--unit', unit]
      const args = [...which, '-n', String(lines), '-o', 'cat', '--no-pager', '-q']
      return toLogLines(await call('journalctl', args, signal), where)
    },
  }
}

function toLogLines(result: CommandResult, where: string): string[] {
  const lines = result.stdout.split('\n').filter(line => line !== '')
  if (result.code === 0 && lines.length > 0) return lines
  throw new UpstreamFailure({
    kind: 'unexpected',
    what: `The log of ${where} could not be read.`,
    where: 'journalctl',
    why: result.stderr.trim().split('\n')[0] || 'the journal has no line of it that this user may read',
    fix: 'Look whether the unit writes to the journal (StandardOutput), and let this user read it: the group systemd-journal may.',
  })
}
