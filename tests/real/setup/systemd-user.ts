import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'

const run = promisify(execFile)

/** systemd runs only if it was the machine's init, so it gets its own /run/systemd that says so. */
const START = `
  set -e
  mkdir -p /run/systemd
  mount -t tmpfs tmpfs /run/systemd
  mkdir /run/systemd/system
  exec /lib/systemd/systemd --user --unit=basic.target`

/** A systemd user manager of its own, in a scratch folder. Disposing stops its units and ends it. */
export interface SystemdUser extends AsyncDisposable {
  /** The variables by which systemctl finds it. */
  readonly env: { XDG_RUNTIME_DIR: string; XDG_CONFIG_HOME: string }
  /** Runs `systemctl --user …` and returns its stdout, trimmed. */
  systemctl(...args: string[]): Promise<string>
  /** Writes a service's file with these lines as its section [Service]. */
  addService(name: string, ...lines: string[]): Promise<void>
  /** Writes a service's whole file. */
  addUnit(name: string, text: string): Promise<void>
}

/** Starts it as root, which its own mount namespace needs. */
export async function startSystemdUser(): Promise<SystemdUser> {
  const folder = mkdtempSync(join(tmpdir(), 'systemd-'))
  const units = join(folder, 'conf/systemd/user')
  mkdirSync(units, { recursive: true })
  mkdirSync(join(folder, 'run'))
  chmodSync(join(folder, 'run'), 0o700)
  const env = { XDG_RUNTIME_DIR: join(folder, 'run'), XDG_CONFIG_HOME: join(folder, 'conf') }
  const manager = await startProgram('unshare', ['-m', 'sh', '-c', START], { env })
  const systemctl = async (...args: string[]) =>
    (await run('systemctl', ['--user', ...args], { env: { ...process.env, ...env } })).stdout.trim()
  const dispose = async () => {
    await systemctl('exit').catch(() => undefined)
    await within('systemd ends', manager.ended).finally(() => manager[Symbol.asyncDispose]())
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await until('systemd answers', () => systemctl('is-active', 'basic.target').catch(() => undefined))
  } catch (error) {
    await dispose()
    throw new Error(`systemd did not start. It wrote:\n${manager.stderr}`, { cause: error })
  }
  const addUnit = async (name: string, text: string) => {
    writeFileSync(join(units, `${name}.service`), text)
    await systemctl('daemon-reload')
  }
  return {
    env,
    systemctl,
    addUnit,
    addService: (name, ...lines) => addUnit(name, ['[Service]', ...lines, ''].join('\n')),
    [Symbol.asyncDispose]: dispose,
  }
}
