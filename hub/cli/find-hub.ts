import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { findDataProblem } from '../config/data-folder.ts'
import { createEnvironment } from '../config/environment.ts'
import { type Config, locateData } from '../config/load.ts'
import { tokenFile } from '../config/token.ts'
import { HubError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'

const hubFile = z.object({
  pid: z.int(),
  url: z.url(),
  startedAt: z.number(),
  certificate: z.string().optional(),
})

export interface RunningHub {
  url: string
  token: string
  /** PEM of the certificate by which the hub is known; undefined for http. */
  certificate?: string | undefined
}

/**
 * Finds the hub that runs on the configured data folder, whatever the config file says by now. Throws
 * `unavailable` where none does, and `forbidden` where this user may not look.
 */
export function findHub(
  config: Pick<Config, 'dataFolder' | 'token'> = locateData(createEnvironment()),
): RunningHub {
  const path = join(config.dataFolder, 'hub.json')
  const found = existsSync(path) ? hubFile.safeParse(parseJson(readFileSync(path, 'utf8'))) : undefined
  if (!found?.success || !isAlive(found.data.pid)) {
    // A user who may not read the folder would see no hub, even where one runs.
    const problem = existsSync(config.dataFolder) ? findDataProblem(config.dataFolder) : undefined
    if (problem !== undefined) throw new HubError('forbidden', problem)
    throw new HubError(
      'unavailable',
      `No hub runs on the data folder ${config.dataFolder}. Start it with "npm start" or "superbloom start", or set SUPERBLOOM_DATA to the folder of one that does.`,
    )
  }
  const file = tokenFile(config.dataFolder)
  const token = config.token ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined)
  if (!token)
    throw new HubError('unauthorized', `There is no token: set SUPERBLOOM_TOKEN, or make ${file} readable`)
  const { url, certificate } = found.data
  return { url, token, certificate }
}

/** Returns the hub that runs on the data folder; undefined for none. */
export function findRunning(config?: Pick<Config, 'dataFolder' | 'token'>): RunningHub | undefined {
  try {
    return findHub(config)
  } catch (error) {
    if (error instanceof HubError && error.code === 'unavailable') return undefined
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
