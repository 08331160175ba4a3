import type { Console } from './game.ts'

const MAX_COMMAND = 400
/** Control characters, and Unicode line ends: a console would see more than one command. */
const BREAKS = /[\p{Cc}\u2028\u2029]/u

/** The decision about a command: the command to send, or the reason of the refusal. */
export type Verdict = { allowed: true; command: string } | { allowed: false; why: string }

/**
 * Checks one command against globs over the whole of it: `*` matches any text, all else only itself, case
 * included. A text that could be two commands is refused whatever the globs say.
 */
export function decideCommand(given: string, kind: Console['kind'], globs: readonly string[]): Verdict {
  const refuse = (why: string): Verdict => ({ allowed: false, why })
  const command = kind === 'minecraft' ? given.trim().replace(/^\/+/, '') : given.trim()
  if (command === '') return refuse('it is empty')
  if (command.length > MAX_COMMAND) return refuse(`it is longer than ${MAX_COMMAND} characters`)
  if (BREAKS.test(command))
    return refuse('it has line ends or control characters, and one command is one line')
  if (kind !== 'minecraft' && command.includes(';')) {
    return refuse('it has a semicolon, with which this console separates commands: send them one by one')
  }
  if (globs.length === 0) return refuse('no commands are allowed for this server')
  if (!globs.some(glob => matches(command, glob))) return refuse('it is none of those that are allowed')
  return { allowed: true, command }
}

/** Takes the first match of each part, without backtracking, so that no command takes long. */
function matches(command: string, glob: string): boolean {
  const [first = '', ...rest] = glob.split('*')
  const last = rest.pop()
  if (last === undefined) return command === glob
  if (!command.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = command.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return command.length - at >= last.length && command.endsWith(last)
}
