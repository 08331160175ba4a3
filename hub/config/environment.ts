import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isSecretName } from '../../schemas/redact.ts'
import { HubError } from '../core/errors.ts'

/** Reads a variable, or the file that its `NAME_FILE` twin points to; undefined where neither is set. */
export type Environment = (name: string) => string | undefined

/** Creates an environment. Empty values count as not set. Throws `bad_request` for a twin it cannot read. */
export function createEnvironment(variables: Record<string, string | undefined> = process.env): Environment {
  return name => {
    const direct = variables[name]
    if (direct !== undefined && direct !== '') return direct
    const file = variables[`${name}_FILE`]
    if (!file) return undefined
    try {
      return readFileSync(file, 'utf8').trim() || undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const why = code === 'EACCES' ? `let user ${process.getuid?.()} read it` : code
      throw new HubError('bad_request', `${name}_FILE: ${file} cannot be read: ${why}`, { cause: error })
    }
  }
}

/**
 * Returns a built-in server's environment: the variables with the prefixes that it may see. One that may see
 * SUPERBLOOM_DATA keeps its files in the hub's own data folder.
 */
export function serverEnvironment(prefixes: readonly string[], dataFolder: string): Record<string, string> {
  const own = prefixes.includes('SUPERBLOOM_DATA') ? { SUPERBLOOM_DATA: dataFolder } : {}
  return { ...childEnvironment(prefixes), ...own }
}

/** Variables that child processes get; the rest of the hub's environment, with its secrets, is not passed. */
const PASSED_TO_CHILDREN =
  'HOME LANG LC_ALL LOGNAME NODE_EXTRA_CA_CERTS PATH SHELL TEMP TMP TMPDIR TZ USER APPDATA LOCALAPPDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT USERPROFILE'.split(
    ' ',
  )

/** Returns the variables of `PASSED_TO_CHILDREN`, and those with a prefix of a built-in server's settings. */
export function childEnvironment(
  prefixes: readonly string[] = [],
  variables: Record<string, string | undefined> = process.env,
): Record<string, string> {
  const passed = Object.entries(variables).filter(
    ([name]) => PASSED_TO_CHILDREN.includes(name) || prefixes.some(prefix => name.startsWith(prefix)),
  )
  return Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** Matches the password in an address. */
const LOGIN = /^[a-z]+:\/\/[^/?#:@]*:([^/?#]+)@/

/** Characters below which a secret is not looked for in texts: it would be found in any. */
const SHORTEST_SECRET = 8

/**
 * Returns the secrets of an environment and of a config: what goes by the name of one. The scheme before a
 * header's secret is not part of it.
 */
export function listSecrets(
  config: object,
  variables: Record<string, string | undefined> = process.env,
): string[] {
  const found: string[] = []
  const look = (value: unknown, name: string): void => {
    if (typeof value === 'string' && isSecretName(name)) found.push(value, value.replace(/^\w+ +/, ''))
    if (typeof value === 'string') found.push(...(LOGIN.exec(value)?.slice(1) ?? []))
    if (typeof value === 'object' && value !== null)
      // A getter is not called: it may load much for what is no secret.
      for (const [key, { value: inner }] of Object.entries(Object.getOwnPropertyDescriptors(value)))
        look(inner, Array.isArray(value) ? name : key)
  }
  look(config, '')
  const environment = createEnvironment(variables)
  for (const name of Object.keys(variables).map(each => each.replace(/_FILE$/, '')))
    if (isSecretName(name)) look(readIfPossible(environment, name), name)
  return [...new Set(found)].filter(secret => secret.length >= SHORTEST_SECRET)
}

/** Returns undefined also where the file of a twin cannot be read: it may be another program's. */
function readIfPossible(environment: Environment, name: string): string | undefined {
  try {
    return environment(name)
  } catch (error) {
    if (error instanceof HubError) return undefined
    throw error
  }
}

/** Returns the files with secrets of a hub with this config file and environment. */
export function listSecretFiles(
  configFile: string,
  variables: Record<string, string | undefined> = process.env,
): string[] {
  // Certificates of authorities are no secret, and without them no TLS works.
  const named = Object.entries(variables).filter(
    ([name]) => name.endsWith('_FILE') && name !== 'SSL_CERT_FILE',
  )
  return [
    configFile,
    `${configFile}.bak`,
    join(dirname(configFile), '.env'),
    ...named.flatMap(([, file]) =>
      file && existsSync(file) && statSync(file).isFile() ? [resolve(file)] : [],
    ),
  ]
}
