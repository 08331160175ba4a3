import type { Clock } from '../../kit/clock.ts'
import type { Cluster } from '../../kit/engine/cluster.ts'
import type { Engine } from '../../kit/engine/engine.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { BackendSettings } from '../config.ts'
import type { Backend } from '../game.ts'
import { createDockerBackend } from './docker.ts'

/** What backends are built over. Nothing is asked before a game is. */
export interface BackendDeps {
  clock: Clock
  /** Docker and Podman, the usual one first. */
  engines: readonly Engine[]
  /** The cluster of a kubeconfig's context; the current one where it is undefined. */
  cluster(context: string | undefined): Cluster
}

export function createBackend(settings: BackendSettings, deps: BackendDeps): Backend {
  switch (settings.kind) {
    case 'docker':
      return createDockerBackend(settings.container, pickEngine(settings.engine, deps.engines))
    default:
      throw new Error(`${settings.kind} comes next`)
  }
}

function pickEngine(name: string | undefined, engines: readonly Engine[]): Engine {
  const found = name === undefined ? engines[0] : engines.find(engine => engine.name === name)
  if (found) return found
  const names = engines.map(engine => engine.name).join(', ')
  throw new ToolFailure({
    what: name === undefined ? 'No container engine was found.' : `There is no container engine "${name}".`,
    where: 'DOCKER_HOST',
    why: names === '' ? 'no Docker or Podman socket is here' : `there are only ${names}`,
    fix: 'Set DOCKER_HOST, or name one of the engines that are there.',
  })
}
