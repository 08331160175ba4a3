import { cleanText } from '../../../kit/text.ts'
import { type FailureFacts, UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { CommandResult } from './command.ts'

/** systemctl(1): the unit does not exist. */
const NO_SUCH_UNIT = 5
/** systemctl(1): no permission. */
const NO_PERMISSION = 4

/**
 * Returns the failure of a program of systemd that could not be run; other errors, such as an abort, are
 * returned as they are.
 */
export function explainSystemd(error: unknown, program: string, where: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error
  return new UpstreamFailure(
    {
      kind: 'unreachable',
      what: `systemd could not be asked about the ${where}.`,
      where: program,
      why: `there is no program ${program} here`,
      fix: 'Run this server on the machine itself and not in a container, or run the game in a container too.',
    },
    { cause: error },
  )
}

/** Converts the exit code and the error text of systemctl to a failure. */
export function explainSystemctl(
  { code, stderr }: CommandResult,
  verb: string,
  where: string,
  user: boolean,
): UpstreamFailure {
  const why = cleanText(stderr.trim().split('\n')[0] ?? '', 300) || `systemctl ended with code ${code}`
  const systemctl = user ? 'systemctl --user' : 'systemctl'
  const say = (kind: FailureFacts['kind'], what: string, fix: string) =>
    new UpstreamFailure({ kind, what, where: `${systemctl} ${verb}`, why, fix })
  if (/failed to connect|not been booted with systemd/i.test(stderr)) {
    const fix = user
      ? 'Set XDG_RUNTIME_DIR to /run/user/<number of the user>, and let the manager run without a login: loginctl enable-linger.'
      : 'Run this server on a machine that systemd started, not in a container.'
    return say('unreachable', `systemd could not be asked about the ${where}.`, fix)
  }
  if (code === NO_PERMISSION || /access denied|authentication|not permitted|permission/i.test(stderr)) {
    const fix =
      'Allow it with a polkit rule for org.freedesktop.systemd1.manage-units, run this server as root, or make it a user unit (user: true).'
    return say('forbidden', `This user may not ${verb} the ${where}.`, fix)
  }
  if (code === NO_SUCH_UNIT || /not found|not loaded/i.test(stderr)) {
    const fix = `Check its name; ${systemctl} list-unit-files lists those that there are, and daemon-reload reads new files.`
    return say('not_found', `There is no ${where}.`, fix)
  }
  const fix = `Look at it on the machine: ${systemctl} status ${where.split(' ').at(-1)}.`
  return say('refused', `systemd did not ${verb} the ${where}.`, fix)
}
