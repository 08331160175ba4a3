import { existsSync } from 'node:fs'
import type { Environment } from '../../../kit/env.ts'

/** Variables that programs started here may see; all others, with their passwords, are withheld. */
const PASSED = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'TZ',
  'USER',
  'XDG_RUNTIME_DIR',
]

/**
 * Returns the environment of game processes and of systemctl, which finds the user's manager by
 * XDG_RUNTIME_DIR.
 */
export function toChildEnvironment(environment: Environment): Record<string, string> {
  const usual = `/run/user/${process.getuid?.()}`
  const runtime = existsSync(usual) ? { XDG_RUNTIME_DIR: usual } : {}
  const passed = PASSED.flatMap(name => {
    const value = environment[name]
    return value ? [[name, value] as const] : []
  })
  return { ...runtime, ...Object.fromEntries(passed) }
}
