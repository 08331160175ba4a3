import { hash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'

const TOKEN_BYTES = 24

/**
 * Returns the id of a data folder at its place on its machine: a copy of the folder elsewhere has another one. The
 * first use makes it.
 */
export function readHubId(dataFolder: string): string {
  const made = readOrMakeToken(join(dataFolder, 'hub-id'))
  return hash('sha256', [made, hostname(), realpathSync(dataFolder)].join('\n'))
}

export function tokenFile(dataFolder: string): string {
  return join(dataFolder, 'token')
}

export interface OwnerToken {
  secret: string
  /** Makes another secret in the data folder and returns it; undefined where the environment says which it is. */
  replace: (() => string) | undefined
  /** Id of the hub that has the data folder. */
  hub: string
  /** Tells whether the hub made a secret. Others are too easily guessed for a store to have their hashes. */
  isMade: (secret: string) => boolean
}

/** Returns the owner's token: the configured one, else that of the data folder. */
export function openOwnerToken(config: { token?: string | undefined; dataFolder: string }): OwnerToken {
  const { token, dataFolder } = config
  const hub = readOrMakeToken(join(dataFolder, 'hub-id'))
  if (token !== undefined) return { secret: token, replace: undefined, hub, isMade: () => false }
  const file = tokenFile(dataFolder)
  return { secret: readOrMakeToken(file), replace: () => makeToken(file), hub, isMade: isMadeToken }
}

function isMadeToken(secret: string): boolean {
  return /^[\w-]{32}$/.test(secret)
}

/** Returns the token in a file. The first use makes it, readable only for its owner. */
export function readOrMakeToken(file: string): string {
  if (existsSync(file)) {
    const token = readFileSync(file, 'utf8').trim()
    if (token !== '') return token
  }
  return makeToken(file)
}

function makeToken(file: string): string {
  // A token that began with a dash would look like an option on a command line.
  const token = randomBytes(TOKEN_BYTES).toString('base64url').replace(/^-/, 'a')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${token}\n`, { mode: 0o600 })
  chmodSync(file, 0o600)
  return token
}
