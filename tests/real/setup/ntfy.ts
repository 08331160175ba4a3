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
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from '../../support/program.ts'
import { until } from '../../support/until.ts'

const INSTALLED = join(tmpdir(), 'superbloom-real', 'ntfy')
const PROGRAM = join(INSTALLED, 'usr/bin/ntfy')
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
  const parent = join(tmpdir(), 'superbloom-real')
  mkdirSync(parent, { recursive: true })
  const work = mkdtempSync(join(parent, 'ntfy-'))
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
    if (!existsSync(INSTALLED)) renameSync(join(work, 'root'), INSTALLED)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

export async function startRealNtfy(): Promise<RealNtfy> {
  installNtfy()
  const folder = mkdtempSync(join(tmpdir(), 'superbloom-ntfy-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = join(folder, 'server.yml')
  const settings = {
    'base-url': url,
    'listen-http': `127.0.0.1:${port}`,
    'cache-file': join(folder, 'cache.db'),
    'attachment-cache-dir': join(folder, 'attachments'),
    'auth-file': join(folder, 'auth.db'),
    'auth-default-access': 'deny-all',
    'web-root': 'disable',
  }
  writeFileSync(config, JSON.stringify(settings))
  const run = (args: string[]) =>
    execFileSync(PROGRAM, args, {
      env: { ...process.env, NTFY_PASSWORD: PASSWORD },
      stdio: 'pipe',
    }).toString()
  const addUser = (name: string, role: string) => run(['user', '-c', config, 'add', `--role=${role}`, name])
  const program = opened.use(await startProgram(PROGRAM, ['serve', '--config', config]))
  await until('ntfy answers', async () => {
    if (program.child.exitCode !== null) throw new Error(`ntfy ended: ${program.stderr}`)
    return fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  })
  addUser('lab', 'admin')
  addUser('writer', 'user')
  run(['access', '-c', config, 'writer', 'lab', 'write-only'])
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

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}
