import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const TOKEN_BYTES = 24

export function tokenFile(dataFolder: string): string {
  return join(dataFolder, 'token')
}

/**
 * Returns the owner's token: the configured one, else that of the data folder, which `replace` makes anew and
 * returns.
 */
export function openOwnerToken({ token, dataFolder }: { token?: string | undefined; dataFolder: string }) {
  if (token !== undefined) return { secret: token, replace: undefined }
  const file = tokenFile(dataFolder)
  return { secret: readOrMakeToken(file), replace: () => makeToken(file) }
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
