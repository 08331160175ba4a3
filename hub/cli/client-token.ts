import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { sleep, systemClock } from '../core/clock.ts'
import { callHub } from './call-hub.ts'
import type { RunningHub } from './find-hub.ts'

const made = z.object({ token: z.string() })

/** Returns the file of the token with which a program on this machine reaches the hub. */
export function clientTokenFile(dataFolder: string, client: string): string {
  return join(dataFolder, 'tokens', client)
}

/** Milliseconds that one program waits for another one of its name to make their token, and between two looks. */
const MADE_WITHIN_MS = 10_000
const LOOK_MS = 50

/**
 * Returns the token of a program on this machine; the first use makes it. Of programs that start at once, one makes
 * it. Throws as `callHub` does.
 */
export async function clientToken(hub: RunningHub, dataFolder: string, client: string): Promise<string> {
  const file = clientTokenFile(dataFolder, client)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  for (let waited = 0; waited < MADE_WITHIN_MS && !claim(file); waited += LOOK_MS) {
    const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
    if (known !== '') return known
    await sleep(systemClock, LOOK_MS)
  }
  try {
    const asked = { name: client, role: 'client', replace: true }
    const { structured } = await callHub(hub, 'hub_create_token', asked)
    const { token } = made.parse(structured)
    writeFileSync(file, `${token}\n`, { mode: 0o600 })
    return token
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/** Makes an empty file; false if it is there, because its token is known or being made. */
function claim(file: string): boolean {
  try {
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
