import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Program, startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'
import { IMAGE, makeBusyboxArchive } from './busybox.ts'

const run = promisify(execFile)

/** A dockerd in a scratch folder. Disposing removes its containers and ends it. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number
  /** The path of its socket. */
  readonly socket: string
  /** Runs `docker …` and returns its stdout, trimmed. */
  docker(...args: string[]): Promise<string>
}

/** A Docker of its own, in a scratch folder. Disposing removes its containers and ends it. */
export interface Dockerd extends Daemon {
  /**
   * Starts a container in the background, on the host's network; resolves with its id. `options` are those of
   * `docker run`, `command` runs in busybox.
   */
  run(name: string, options: readonly string[], ...command: string[]): Promise<string>
}

export interface DaemonOptions {
  /** The folder of its images and volumes, which then outlive it; by default in the scratch folder. */
  dataRoot?: string
  /**
   * `machine` does not change the machine's network: it has no bridge and no iptables rules, and containers
   * have the host's network or none. `own` is a separate network namespace without outside access, with all
   * of Docker's network functions; its `/run` is separate too, with another socket at the usual path.
   */
  network?: 'machine' | 'own'
  /** The propagation of mounts under `/`, which systemd sets to shared; only with its own network. */
  root?: 'private' | 'shared'
  /** More options of dockerd. */
  options?: readonly string[]
}

const WITHOUT_NETWORK = ['iptables', 'ip6tables', 'ip-forward', 'ip-masq'].map(name => `--${name}=false`)
const OWN_NETWORK = `
  set -e
  mount --make-r$1 /
  mount -t tmpfs tmpfs /run
  ip link set lo up
  shift
  exec dockerd --host=unix:///run/docker.sock "$@"`

/**
 * Starts dockerd as root, without changing the machine's network. Its only image is `lab/busybox:latest`.
 * `options` are further options of dockerd.
 */
export async function startDockerd(...options: string[]): Promise<Dockerd> {
  await using opened = new AsyncDisposableStack()
  const daemon = opened.use(await startDaemon({ options }))
  const folder = mkdtempSync(join(tmpdir(), 'busybox-'))
  opened.defer(() => rmSync(folder, { recursive: true, force: true }))
  await daemon.docker('import', '--change', 'CMD ["/bin/sh"]', makeBusyboxArchive(folder), IMAGE)
  const owned = opened.move()
  return {
    ...daemon,
    run: (name, given, ...command) =>
      daemon.docker('run', '-d', '--network', 'host', '--name', name, ...given, IMAGE, ...command),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Starts dockerd as root, with no images besides those in its `dataRoot`. */
export async function startDaemon(given: DaemonOptions): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'dockerd-'))
  const socket = join(folder, 'docker.sock')
  writeFileSync(join(folder, 'daemon.json'), '{}')
  const program = await launch(folder, socket, given)
  const docker = async (...args: string[]) =>
    (await run('docker', ['-H', `unix://${socket}`, ...args])).stdout.trim()
  const stop = async () => {
    const containers = (await docker('ps', '-aq')).split('\n').filter(id => id !== '')
    if (containers.length > 0) await docker('rm', '-f', ...containers)
  }
  const dispose = async () => {
    await stop().catch(() => undefined)
    program.signal('SIGTERM')
    await within('dockerd ends', program.ended).finally(() => program[Symbol.asyncDispose]())
    removeFolder(folder)
  }
  try {
    await until('dockerd answers', () => existsSync(socket) && docker('version').catch(() => undefined))
  } catch (error) {
    await dispose()
    throw new Error(`dockerd did not start. It wrote:\n${program.stderr}`, { cause: error })
  }
  return { pid: program.pid, socket, docker, [Symbol.asyncDispose]: dispose }
}

function launch(folder: string, socket: string, given: DaemonOptions): Promise<Program> {
  const { network = 'machine', root = 'private', dataRoot = join(folder, 'data'), options = [] } = given
  const args = [...toArguments(folder, socket), `--data-root=${dataRoot}`, ...options]
  if (network === 'machine') return startProgram('dockerd', [...args, ...WITHOUT_NETWORK, '--bridge=none'])
  return startProgram('unshare', ['--mount', '--net', 'sh', '-c', OWN_NETWORK, 'sh', root, ...args])
}

/** Returns the arguments. Limits are set because a test machine may not allow raising them. */
function toArguments(folder: string, socket: string): string[] {
  const options = {
    'config-file': join(folder, 'daemon.json'),
    host: `unix://${socket}`,
    'exec-root': join(folder, 'exec'),
    pidfile: join(folder, 'dockerd.pid'),
    'storage-driver': 'overlay2',
  }
  const limits = ['nofile=20000:20000', 'nproc=4096:4096'].map(limit => `--default-ulimit=${limit}`)
  return [...Object.entries(options).map(([name, value]) => `--${name}=${value}`), ...limits]
}

/** Unmounts everything in the folder, such as the containers' shared network, and removes it. */
export function removeFolder(folder: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(path => path.startsWith(`${folder}/`))
  for (const path of mounts.reverse()) execFileSync('umount', ['-l', path])
  rmSync(folder, { recursive: true, force: true })
}
