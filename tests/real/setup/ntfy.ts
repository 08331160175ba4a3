import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Suite, unpackDebianPackage } from './debian-package.ts'
import { startReal } from './scratch.ts'

const PASSWORD = 'labpw'

/** A real ntfy server that requires a login. Disposing ends it and removes its folder. */
export interface RealNtfy extends AsyncDisposable {
  readonly url: string
  /** Tokens of a user with all rights, and of one who may only write to the topic "lab". */
  readonly tokens: { admin: string; writer: string }
}

/** Starts ntfy, by default on loopback: 2.11 of trixie, or 2.27 or later of forky. */
export async function startRealNtfy({
  suite,
  ...listens
}: {
  address?: string
  suite?: Suite
} = {}): Promise<RealNtfy> {
  const command = join(unpackDebianPackage('ntfy', suite), 'usr/bin/ntfy')
  const toConfig = (folder: string) => join(folder, 'server.yml')
  const real = await startReal({
    name: 'ntfy',
    ...listens,
    prepare({ folder, port, address }) {
      const settings = {
        'base-url': `http://${address}:${port}`,
        'listen-http': `${address}:${port}`,
        'cache-file': join(folder, 'cache.db'),
        'attachment-cache-dir': join(folder, 'attachments'),
        'auth-file': join(folder, 'auth.db'),
        'auth-default-access': 'deny-all',
        'web-root': 'disable',
        'visitor-request-limit-exempt-hosts': address,
      }
      writeFileSync(toConfig(folder), JSON.stringify(settings))
      return { command, args: ['serve', '--config', toConfig(folder)] }
    },
    isReady: async url => (await fetch(`${url}/v1/health`)).ok,
  })
  await using opened = new AsyncDisposableStack()
  const { url, folder } = opened.use(real)
  const run = (verb: string, ...args: string[]) =>
    execFileSync(command, [verb, '-c', toConfig(folder), ...args], {
      env: { ...process.env, NTFY_PASSWORD: PASSWORD },
      stdio: 'pipe',
    })
  run('user', 'add', '--role=admin', 'lab')
  run('user', 'add', '--role=user', 'writer')
  run('access', 'writer', 'lab', 'write-only')
  const tokens = { admin: await makeToken(url, 'lab'), writer: await makeToken(url, 'writer') }
  const owned = opened.move()
  return { url, tokens, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function makeToken(url: string, user: string): Promise<string> {
  const authorization = `Basic ${btoa(`${user}:${PASSWORD}`)}`
  const answer = await fetch(`${url}/v1/account/token`, { method: 'POST', headers: { authorization } })
  const { token } = (await answer.json()) as { token: string }
  return token
}
