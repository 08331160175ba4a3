import { join } from 'node:path'
import { openDataFolder } from './data-folder.ts'
import type { Environment } from './environment.ts'
import { locateDataFolder } from './load.ts'
import { readOrMakeToken } from './token.ts'
import { toToken } from './variable-values.ts'

/**
 * Returns the token of a built-in server that runs alone over HTTP, and in words where it stands. It opens only
 * that server; the owner's token of the hub is never read. The first use makes it, in `<data>/tokens`, where no
 * variable sets one. Throws `bad_request` where a variable or the data folder cannot be used.
 */
export function openServerToken(server: string, environment: Environment): { token: string; from: string } {
  const token = toToken('SUPERBLOOM_SERVER_TOKEN', environment('SUPERBLOOM_SERVER_TOKEN'))
  if (token !== undefined) return { token, from: 'what SUPERBLOOM_SERVER_TOKEN says' }
  const dataFolder = locateDataFolder(environment)
  openDataFolder(dataFolder)
  const file = join(dataFolder, 'tokens', `serve-${server}`)
  return { token: readOrMakeToken(file), from: `in ${file}` }
}
