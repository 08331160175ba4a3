import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'
import { IMAGE, makeBusyboxArchive } from './busybox.ts'

const run = promisify(execFile)

/** A Docker of its own, in a scratch folder. Disposing removes its containers and ends it. */
export interface Dockerd extends AsyncDisposable {
  /** The path of its socket. */
  readonly socket: string
  /** What `docker …` wrote on stdout, trimmed. */
  docker(...args: string[]): Promise<string>
  /**
   * Starts a container in the background, on the host's network; resolves with its id. `options` are those of
   * `docker run`, `command` is what busybox runs.
   */
  run(name: string, options: readonly string[], ...command: string[]): Promise<string>
}

/**
 * Starts dockerd as root, without touching the machine's network: no bridge, no rules of iptables. Its containers can have the
 * host's network or none, and its only image is `lab/busybox:latest`. `options` are
 * more of dockerd.
 */
export async function startDockerd(...options: string[]): Promise<Dockerd> {
  const folder = mkdtempSync(join(tmpdir(), 'dockerd-'))
  const socket = join(folder, 'docker.sock')
  writeFileSync(join(folder, 'daemon.json'), '{}')
  const daemon = await startProgram('dockerd', [...toArguments(folder, socket), ...options])
  const docker = async (...args: string[]) =>
    (await run('docker', ['-H', `unix://${socket}`, ...args])).stdout.trim()
  const stop = async () => {
    const containers = (await docker('ps', '-aq')).split('\n').filter(id => id !== '')
    if (containers.length > 0) await docker('rm', '-f', ...containers)
  }
  const dispose = async () => {
    await stop().catch(() => undefined)
    daemon.signal('SIGTERM')
    await within('dockerd ends', daemon.ended).finally(() => daemon[Symbol.asyncDispose]())
    removeFolder(folder)
  }
  try {
    await until('dockerd answers', () => existsSync(socket) && docker('version').catch(() => undefined))
    await docker('import', '--change', 'CMD ["/bin/sh"]', makeBusyboxArchive(folder), IMAGE)
  } catch (error) {
    await dispose()
    throw new Error(`dockerd did not start. It wrote:\n${daemon.stderr}`, { cause: error })
  }
  return {
    socket,
    docker,
    run: (name, options, ...command) =>
      docker('run', '-d', '--network', 'host', '--name', name, ...options, IMAGE, ...command),
    [Symbol.asyncDispose]: dispose,
  }
}

/** Limits are set because a machine for tests may not allow to raise them. */
function toArguments(folder: string, socket: string): string[] {
  const options = {
    'config-file': join(folder, 'daemon.json'),
    host: `unix://${socket}`,
    'data-root': join(folder, 'data'),
    'exec-root': join(folder, 'exec'),
    pidfile: join(folder, 'dockerd.pid'),
    iptables: 'false',
    ip6tables: 'false',
    'ip-forward': 'false',
    'ip-masq': 'false',
    bridge: 'none',
    'storage-driver': 'overlay2',
  }
  const limits = ['nofile=20000:20000', 'nproc=4096:4096'].map(limit => `--default-ulimit=${limit}`)
  return [...Object.entries(options).map(([name, value]) => `--${name}=${value}`), ...limits]
}

/** With what is still mounted in it, such as the network that its containers shared. */
export function removeFolder(folder: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(path => path.startsWith(`${folder}/`))
  for (const path of mounts.reverse()) execFileSync('umount', ['-l', path])
  rmSync(folder, { recursive: true, force: true })
}
