import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { INSTALLED, startReal } from './scratch.ts'

const PLACE = join(INSTALLED, 'ntfy')
const PROGRAM = join(PLACE, 'usr/bin/ntfy')
const PASSWORD = 'labpw'

/** A real ntfy server that lets nobody in without a login. Disposing ends it and removes its folder. */
export interface RealNtfy extends AsyncDisposable {
  readonly url: string
  /** Of a user who may do everything, and of one who may only write to the topic "lab". */
  readonly tokens: { admin: string; writer: string }
}

/** Debian trixie's ntfy, which runs on bookworm as it is: fetched and unpacked once, outside the repository. */
export function installNtfy(): void {
  if (existsSync(PROGRAM)) return
  mkdirSync(INSTALLED, { recursive: true })
  const work = mkdtempSync(join(INSTALLED, 'ntfy-'))
  try {
    for (const folder of ['lists/partial', 'cache/archives/partial', 'etc', 'root'])
      mkdirSync(join(work, folder), { recursive: true })
    const [first = ''] = readFileSync('/etc/apt/sources.list.d/debian.sources', 'utf8').split('\n\n')
    writeFileSync(join(work, 'etc/trixie.sources'), `${first.replace(/^Suites:.*$/m, 'Suites: trixie')}\n`)
    const options = [
      'Dir::Etc::sourcelist=/dev/null',
      `Dir::Etc::sourceparts=${join(work, 'etc')}`,
      `Dir::State::lists=${join(work, 'lists')}`,
      `Dir::Cache=${join(work, 'cache')}`,
      'APT::Sandbox::User=root',
    ].flatMap(option => ['-o', option])
    const run = (command: string, args: string[]) => execFileSync(command, args, { cwd: work, stdio: 'pipe' })
    run('apt-get', [...options, 'update', '-qq'])
    run('apt-get', [...options, 'download', 'ntfy'])
    const deb = readdirSync(work).find(name => name.endsWith('.deb')) ?? 'ntfy.deb'
    run('dpkg', ['-x', deb, 'root'])
    if (!existsSync(PLACE)) renameSync(join(work, 'root'), PLACE)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

export async function startRealNtfy(): Promise<RealNtfy> {
  installNtfy()
  const toConfig = (folder: string) => join(folder, 'server.yml')
  const real = await startReal({
    name: 'ntfy',
    prepare({ folder, port }) {
      const settings = {
        'base-url': `http://127.0.0.1:${port}`,
        'listen-http': `127.0.0.1:${port}`,
        'cache-file': join(folder, 'cache.db'),
        'attachment-cache-dir': join(folder, 'attachments'),
        'auth-file': join(folder, 'auth.db'),
        'auth-default-access': 'deny-all',
        'web-root': 'disable',
        'visitor-request-limit-exempt-hosts': '127.0.0.1',
      }
      writeFileSync(toConfig(folder), JSON.stringify(settings))
      return { command: PROGRAM, args: ['serve', '--config', toConfig(folder)] }
    },
    isReady: async url => (await fetch(`${url}/v1/health`)).ok,
  })
  await using opened = new AsyncDisposableStack()
  const { url, folder } = opened.use(real)
  const run = (command: string, ...args: string[]) =>
    execFileSync(PROGRAM, [command, '-c', toConfig(folder), ...args], {
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
