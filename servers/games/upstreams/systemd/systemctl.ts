import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { CommandResult, RunCommand } from './command.ts'
import { explainSystemctl, explainSystemd } from './explain.ts'
import { PROPERTIES, toFacts } from './unit-facts.ts'

export interface Unit {
  unit: string
  /** True for a unit of the user's own manager. */
  user: boolean
}

export type Systemctl = ReturnType<typeof createSystemctl>

/**
 * Creates one unit through systemctl and journalctl. Every call fails with UpstreamFailure. `env` has the
 * variables by which systemctl finds its manager: PATH, and XDG_RUNTIME_DIR for user units.
 */
export function createSystemctl(
  { unit, user }: Unit,
  { run, env }: { run: RunCommand; env: Readonly<Record<string, string>> },
) {
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
    /** The unit in messages: "unit minecraft.service". */
    where,
    show: async (signal?: AbortSignal) =>
      toFacts(await ask('show', ['--timestamp=unix', '-p', PROPERTIES], signal)),
    /** Requests a start or a stop, and does not wait for it. */
    async act(verb: 'start' | 'stop', signal?: AbortSignal) {
      await ask(verb, [silent, '--no-block'], signal)
    },
    /** Kills all its processes at once; `forget` then resets the failed state that this causes. */
    async kill(signal?: AbortSignal) {
      await ask('kill', [silent, '--signal=SIGKILL'], signal)
    },
    async forget(signal?: AbortSignal) {
      await ask('reset-failed', [silent], signal)
    },
    async log(lines: number, signal?: AbortSignal) {
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
