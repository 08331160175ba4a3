import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { callHub } from './call-hub.ts'
import type { RunningHub } from './find-hub.ts'

const made = z.object({ token: z.string() })

/** Returns the file of the token with which a program on this machine reaches the hub. */
export function clientTokenFile(dataFolder: string, client: string): string {
  return join(dataFolder, 'tokens', client)
}

/** Returns the token of a program on this machine; the first use makes it. Throws as `callHub` does. */
export async function clientToken(hub: RunningHub, dataFolder: string, client: string): Promise<string> {
  const file = clientTokenFile(dataFolder, client)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const asked = { name: client, role: 'client', replace: true }
  const { structured } = await callHub(hub, 'hub_create_token', asked)
  const { token } = made.parse(structured)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${token}\n`, { mode: 0o600 })
  return token
}
