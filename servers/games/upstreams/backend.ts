import type { Clock } from '../../kit/clock.ts'
import type { Engine } from '../../kit/docker/engine.ts'
import { toNoEngine } from '../../kit/docker/find-engines.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { Cluster } from '../../kit/kubernetes/cluster.ts'
import type { BackendSettings } from '../declaration.ts'
import type { Backend } from '../game.ts'
import { createDockerBackend } from './docker/backend.ts'
import { createKubernetesBackend } from './kubernetes/backend.ts'
import { createProcessBackend } from './process/backend.ts'
import { createSystemdBackend } from './systemd/backend.ts'
import { type RunCommand, runCommand } from './systemd/command.ts'

/** The parts that backends use. Nothing is requested before a game's first call. */
export interface BackendDeps {
  clock: Clock
  /** Returns the engines of Docker and Podman that exist now, the usual one first. */
  engines(): readonly Engine[]
  /**
   * Returns the cluster of a kubeconfig's context, or of the current one if it is undefined. Throws
   * ToolFailure if there is none.
   */
  cluster(context: string | undefined): Cluster
  /** Environment of programs that are started here: PATH, HOME and other harmless variables. */
  env: Readonly<Record<string, string>>
  run?: RunCommand
}

/** Creates a backend. Some own processes: the registry disposes of them. */
export function createBackend(
  settings: BackendSettings,
  deps: BackendDeps,
): Backend & Partial<AsyncDisposable> {
  const { clock, env, run = runCommand } = deps
  switch (settings.kind) {
    case 'docker':
      return createDockerBackend(settings.container, () => pickEngine(settings.engine, deps.engines()))
    case 'systemd':
      return createSystemdBackend(settings, { clock, run, env })
    case 'process':
      return createProcessBackend(settings, { clock, env })
    case 'kubernetes': {
      const { workload: kind, namespace, name, context } = settings
      return createKubernetesBackend({ kind, namespace, name }, () => deps.cluster(context), clock)
    }
    default:
      return settings satisfies never
  }
}

/** Returns the engine with a name, or the usual one if it is undefined. Throws ToolFailure. */
function pickEngine(name: string | undefined, engines: readonly Engine[]): Engine {
  const found = name === undefined ? engines[0] : engines.find(engine => engine.name === name)
  if (found) return found
  if (engines.length === 0) throw toNoEngine()
  throw new ToolFailure({
    what: `There is no container engine "${name}".`,
    where: `ENGINE_${name?.toUpperCase()}_URL`,
    why: `there are only ${engines.map(engine => engine.name).join(', ')}`,
    fix: `Set ENGINE_${name?.toUpperCase()}_URL, or name one of the engines that are there.`,
  })
}
