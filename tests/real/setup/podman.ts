import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startProgram } from '../../support/program.ts'
import { until, within } from '../../support/until.ts'
import { IMAGE, makeBusyboxArchive } from './busybox.ts'
import { removeFolder } from './dockerd.ts'

const run = promisify(execFile)

/** Podman's API, in a scratch folder. Disposing removes its containers and ends it. */
export interface Podman extends AsyncDisposable {
  /** The path of its socket. */
  readonly socket: string
  /** Runs `podman …` and returns its stdout, trimmed. */
  podman(...args: string[]): Promise<string>
  /** Starts a container in the background, on the host's network; resolves with its id. */
  run(name: string, options: readonly string[], ...command: string[]): Promise<string>
}

/** Starts Podman as root. It never uses its default network, which would change the machine's. */
export async function startPodman(): Promise<Podman> {
  const folder = mkdtempSync(join(tmpdir(), 'podman-'))
  const socket = join(folder, 'podman.sock')
  const env = writeSettings(folder)
  // conmon writes a file `oom` to its working directory, which it has from podman.
  const podman = async (...args: string[]) =>
    (await run('podman', args, { env: { ...process.env, ...env }, cwd: folder })).stdout.trim()
  const service = await startProgram('podman', ['system', 'service', '--time=0', `unix://${socket}`], {
    env,
    cwd: folder,
  })
  const dispose = async () => {
    await podman('rm', '--force', '--all', '--time=0').catch(() => undefined)
    service.signal('SIGTERM')
    await within('podman ends', service.ended).finally(() => service[Symbol.asyncDispose]())
    removeFolder(folder)
  }
  try {
    execFileSync('podman', ['import', '--change', 'CMD=/bin/sh', makeBusyboxArchive(folder), IMAGE], {
      env: { ...process.env, ...env },
      stdio: 'pipe',
    })
    await until('podman listens', () => existsSync(socket))
  } catch (error) {
    await dispose()
    throw new Error(`podman did not start. It wrote:\n${service.stderr}`, { cause: error })
  }
  return {
    socket,
    podman,
    run: (name, options, ...command) =>
      podman('run', '-d', '--network', 'host', '--name', name, ...options, IMAGE, ...command),
    [Symbol.asyncDispose]: dispose,
  }
}

/** Writes its settings, which keep its store in the folder; resolves with the variables for them. */
function writeSettings(folder: string): Record<string, string> {
  const containers = `
[containers]
netns = "host"
default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = "${folder}/tmp"
[network]
network_config_dir = "${folder}/networks"
`
  const storage = `
[storage]
driver = "overlay"
graphroot = "${folder}/store"
runroot = "${folder}/run"
`
  for (const name of ['tmp', 'networks', 'home']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'containers.conf'), containers)
  writeFileSync(join(folder, 'storage.conf'), storage)
  return {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    HOME: join(folder, 'home'),
  }
}
