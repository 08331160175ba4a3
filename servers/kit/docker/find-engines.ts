import { existsSync, realpathSync } from 'node:fs'
import { z } from 'zod'
import { type Environment, type Setting, SettingsError } from '../env.ts'
import { ToolFailure } from '../failure.ts'
import { type InstanceSpec, readInstances } from '../instances.ts'
import { required } from '../settings.ts'
import { toPlace } from './address.ts'

/** An engine to open with `openEngine`. */
export interface EngineAddress {
  name: string
  address: string
  certificates: string | undefined
}

const addressSetting: Setting<string | undefined> = {
  schema: z.string().refine(text => toPlace(text) !== undefined),
  default: undefined,
  purpose: 'where the API of a Docker or a Podman is',
  form: 'the path of a socket, or unix:///path, tcp://host:port, http://host:port or https://host:port',
  where: '`docker context ls` or `podman info --format "{{.Host.RemoteSocket.Path}}"`',
  // The value of a wrong setting may hold a password, so it is not shown.
  secret: true,
}

const folderSetting: Setting<string | undefined> = {
  schema: z.string(),
  default: undefined,
  purpose: 'the certificates for an engine over TLS',
  form: 'the path of a folder with ca.pem, cert.pem and key.pem',
}

/**
 * Settings `ENGINE_URL` and `ENGINE_CERT_PATH`; `ENGINE_NAS_URL` and `ENGINE_NAS_CERT_PATH` for the engine
 * "nas".
 */
const spec = {
  title: 'Container engine',
  prefix: 'ENGINE',
  settings: { URL: required(addressSetting), CERT_PATH: folderSetting },
} satisfies InstanceSpec<{ URL: Setting<string>; CERT_PATH: Setting<string | undefined> }>

/**
 * Finds the container engines of an environment, the usual one first; each has a name of its own. If
 * `ENGINE_…_URL` is set, it returns exactly those. Otherwise it returns Docker at `DOCKER_HOST` (with
 * `DOCKER_CERT_PATH`) or at its usual sockets, and Podman at its own, if they exist now; `XDG_RUNTIME_DIR`
 * and `HOME` are searched too. Throws SettingsError. Cheap enough to be called at every poll.
 */
export function findEngines(environment: Environment): EngineAddress[] {
  const given = readInstances(spec, environment)
  const problems = given.flatMap(({ problem }) => problem ?? [])
  if (problems.length > 0) throw new SettingsError(problems)
  if (given.length > 0) {
    return given.map(({ name, settings }) => ({
      name,
      address: settings.URL,
      certificates: settings.CERT_PATH,
    }))
  }
  const home = environment['HOME']
  const runtime = environment['XDG_RUNTIME_DIR']
  const host = environment['DOCKER_HOST']
  const docker = host
    ? { name: 'docker', address: host, certificates: environment['DOCKER_CERT_PATH'] || undefined }
    : pick('docker', [
        '/var/run/docker.sock',
        runtime && `${runtime}/docker.sock`,
        home && `${home}/.docker/run/docker.sock`,
      ])
  const podman = pick('podman', [runtime && `${runtime}/podman/podman.sock`, '/run/podman/podman.sock'])
  const found = [docker, podman].filter(engine => engine !== undefined)
  // Podman may link its socket at Docker's path, which makes one engine.
  return [...new Map(found.toReversed().map(engine => [toReal(engine), engine])).values()].reverse()
}

/** Returns the failure of a tool that needs an engine when there is none. */
export function toNoEngine(): ToolFailure {
  return new ToolFailure({
    what: 'No container engine was found here.',
    where: 'DOCKER_HOST, ENGINE_URL',
    why: 'neither is set, and there is no socket of Docker or Podman at the usual places',
    fix: 'Start Docker (or `systemctl enable --now podman.socket`). In a container, mount the socket: -v /var/run/docker.sock:/var/run/docker.sock. For an engine elsewhere, set ENGINE_URL, such as tcp://nas:2375.',
    isUnconfigured: true,
  })
}

function pick(name: string, paths: readonly (string | undefined)[]): EngineAddress | undefined {
  const address = paths.find(path => path && existsSync(path))
  return address ? { name, address, certificates: undefined } : undefined
}

function toReal({ address, certificates }: EngineAddress): string {
  const place = toPlace(address, certificates)
  if (place?.socketPath !== undefined && existsSync(place.socketPath)) return realpathSync(place.socketPath)
  return place?.address ?? address
}
