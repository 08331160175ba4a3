import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../support/built.ts'
import { until } from '../../support/until.ts'
import { unpackDebianPackage } from './debian-package.ts'
import { type Daemon, type DaemonOptions, removeFolder, startDaemon } from './dockerd.ts'
import { addNodeImage } from './node-image.ts'

const run = promisify(execFile)

/** The path of Debian's own programs, independent of other installed ones. */
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** Folders that are not part of a checkout. */
const LEFT_OUT = new Set(['.git', 'coverage', 'data', 'dist', 'node_modules', 'secrets'])

export const COMPOSE_1 = 'docker-compose'
/** Finds Compose 2, which also runs as a program, so Debian 12's Docker need not have it as a plugin. */
export const findCompose2 = () =>
  join(unpackDebianPackage('docker-compose'), 'usr/libexec/docker/cli-plugins/docker-compose')

export interface Service {
  id: string
  /** A state such as `running` or `exited`. */
  status: string
  /** A state such as `starting` or `healthy`. */
  health: string
  exitCode: number
}

/** A checkout prepared as docs/docker.md says, and Compose in it, with a Docker of its own. */
export interface Project extends AsyncDisposable {
  readonly folder: string
  readonly daemon: Daemon
  /** Returns Compose's stdout, trimmed; rejects if it fails. */
  compose(...args: string[]): Promise<string>
  /** Runs a command in a service's container, without a terminal. */
  execute(service: string, ...command: string[]): Promise<string>
  /** Returns the state of every service's container, by service. */
  services(): Promise<Record<string, Service>>
}

/** A checkout, and the data of a Docker in which its image is built once for all projects. */
export interface BuiltImage extends Disposable {
  readonly folder: string
  readonly dataRoot: string
}

/** Builds the image by Compose, with the machine's network for npm. */
export async function buildImage(): Promise<BuiltImage> {
  const scratch = mkdtempSync(join(tmpdir(), 'superbloom-compose-'))
  const built = {
    folder: join(scratch, 'superbloom'),
    dataRoot: join(scratch, 'docker'),
    [Symbol.dispose]: () => removeFolder(scratch),
  }
  try {
    const filter = (path: string) => !LEFT_OUT.has(path.slice(root.length + 1))
    cpSync(root, built.folder, { recursive: true, filter })
    writeFileSync(
      join(built.folder, 'build.yml'),
      'services: { hub: { build: { context: ., network: host } } }\n',
    )
    await using daemon = await startDaemon({ dataRoot: built.dataRoot })
    await addNodeImage(daemon)
    const compose = createCompose(COMPOSE_1, built.folder, daemon)
    await compose('-f', 'docker-compose.yml', '-f', 'build.yml', 'build', 'hub')
    return built
  } catch (error) {
    built[Symbol.dispose]()
    throw error
  }
}

/** Starts a Docker with the image in its own network; no services run yet. */
export async function openProject(
  { folder, dataRoot }: BuiltImage,
  given: Pick<DaemonOptions, 'root'> & { compose?: string } = {},
): Promise<Project> {
  const { compose: command = COMPOSE_1, ...options } = given
  const daemon = await startDaemon({ dataRoot, network: 'own', ...options })
  const compose = createCompose(command, folder, daemon)
  const services = async () => {
    const ids = (await daemon.docker('ps', '-aq')).split('\n').filter(id => id !== '')
    const all = ids.length === 0 ? [] : (JSON.parse(await daemon.docker('inspect', ...ids)) as Inspected[])
    return Object.fromEntries(all.flatMap(toService))
  }
  return {
    folder,
    daemon,
    compose,
    execute: (service, ...words) => compose('exec', '-T', service, ...words),
    services,
    async [Symbol.asyncDispose]() {
      await compose('down', '--volumes', '--timeout', '1').finally(() => daemon[Symbol.asyncDispose]())
    },
  }
}

export async function untilHealthy({ services, compose }: Project): Promise<void> {
  try {
    // Docker checks a service's health for the first time after half a minute.
    await until('every service is healthy', async () => isHealthy(await services()), { within: 180_000 })
  } catch (error) {
    throw new Error(await compose('logs', '--no-color'), { cause: error })
  }
}

function isHealthy(services: Record<string, Service>): boolean {
  const { tokens, ...all } = services
  const states = Object.values(all).map(({ health }) => health)
  return tokens?.exitCode === 0 && states.length === 6 && states.every(health => health === 'healthy')
}

interface Inspected {
  Id: string
  State: { Status: string; ExitCode: number; Health?: { Status: string } }
  Config: { Labels: Record<string, string> }
}

function toService({ Id, State, Config }: Inspected): [string, Service][] {
  const name = Config.Labels['com.docker.compose.service']
  if (name === undefined) return []
  return [
    [name, { id: Id, status: State.Status, health: State.Health?.Status ?? '', exitCode: State.ExitCode }],
  ]
}

function createCompose(command: string, folder: string, { socket }: Daemon) {
  const env = {
    PATH,
    HOME: folder,
    DOCKER_HOST: `unix://${socket}`,
    DOCKER_BUILDKIT: '1',
    COMPOSE_PROJECT_NAME: 'superbloom',
    DOCKER_GID: String(statSync(socket).gid),
  }
  return async (...args: string[]) =>
    (await run(command, args, { cwd: folder, env, maxBuffer: 2 ** 26 })).stdout.trim()
}
