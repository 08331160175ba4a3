import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeError, HubError } from '../core/errors.ts'
import { tokenFile } from './token.ts'

const { R_OK, W_OK, X_OK } = constants
const ELSEWHERE = 'Name another folder with SUPERBLOOM_DATA.'

/** Makes the data folder if it is missing. Throws `bad_request` with a remedy where it cannot be used. */
export function openDataFolder(folder: string): void {
  const problem = findDataProblem(folder)
  if (problem !== undefined) throw new HubError('bad_request', problem)
  try {
    makeFolder(folder, 0o700)
  } catch (error) {
    const why = `The data folder ${folder} cannot be made: ${describeError(error)}. ${ELSEWHERE}`
    throw new HubError('bad_request', why, { cause: error })
  }
}

/** Returns why this process cannot use a data folder, which may be missing, and a remedy; else undefined. */
export function findDataProblem(folder: string): string | undefined {
  const existing = nearestFolder(folder)
  if (!statSync(existing).isDirectory())
    return `The data folder ${folder} cannot be used: ${existing} is not a folder. ${ELSEWHERE}`
  const needs: [path: string, mode: number][] = [[existing, R_OK | W_OK | X_OK]]
  if (existing === folder) {
    needs.push([tokenFile(folder), R_OK])
    for (const name of ['lock.db', 'superbloom.db', 'superbloom.db-wal', 'superbloom.db-shm'])
      needs.push([join(folder, name), R_OK | W_OK])
  }
  for (const [path, mode] of needs) {
    const code = findRefusal(path, mode)
    if (code !== undefined) return describe(folder, path, code)
  }
  return undefined
}

/** Returns the folder, or the nearest one above it that exists. */
function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder))
}

/** Returns the system's error code, such as EACCES; undefined where it allows access or nothing exists. */
function findRefusal(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : (code ?? String(error))
  }
}

function describe(folder: string, path: string, code: string): string {
  const what = `The data folder ${folder} cannot be used:`
  const elsewhere = 'or name another folder with SUPERBLOOM_DATA.'
  const user = process.getuid?.()
  if (code === 'EROFS')
    return `${what} ${path} is on a disk that is only to be read. Let it be written, ${elsewhere}`
  if (code !== 'EACCES' || user === undefined)
    return `${what} ${path}: ${code}. Let this user read and write it, ${elsewhere}`
  const owner = `${user}:${process.getgid?.()}`
  // The command changes no folder above the data folder: those keep their owners.
  const mend = existsSync(folder)
    ? `sudo chown -R ${owner} ${folder} && sudo chmod -R u+rwX ${folder}`
    : `sudo install -d -o ${user} -g ${process.getgid?.()} -m 0700 ${folder}`
  const belongs = `it belongs to user ${statSync(path).uid}`
  return `${what} this program runs as user ${user}, who may not read and write ${path} (${belongs}). Run it as that user, or run ${mend} (for a container: on the machine, with the folder's path there), ${elsewhere}`
}

/** Makes a folder and its missing parents. With `recursive`, Node would try forever in /proc. */
export function makeFolder(folder: string, mode?: number): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process may have made the folder meanwhile.
    if (!existsSync(folder)) throw error
  }
}
