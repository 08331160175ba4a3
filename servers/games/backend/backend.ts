import type { Clock } from '../../kit/clock.ts'
import type { Cluster } from '../../kit/engine/cluster.ts'
import type { Engine } from '../../kit/engine/engine.ts'
import { toNoEngine } from '../../kit/engine/find-engines.ts'
import { ToolFailure } from '../../kit/failure.ts'
import type { BackendSettings } from '../config.ts'
import type { Backend } from '../game.ts'
import { type RunCommand, runCommand } from './command.ts'
import { createDockerBackend } from './docker.ts'
import { createKubernetesBackend } from './kubernetes.ts'
import { createProcessBackend } from './process.ts'
import { createSystemdBackend } from './systemd.ts'

/** What backends are built over. Nothing is asked before a game is. */
export interface BackendDeps {
  clock: Clock
  /** Those of Docker and Podman that are here now, the usual one first. */
  engines(): readonly Engine[]
  /** The cluster of a kubeconfig's context; the current one where it is undefined. Throws ToolFailure where none is here. */
  cluster(context: string | undefined): Cluster
  /** What programs that are started here see: PATH, HOME and what else is harmless. */
  env: Readonly<Record<string, string>>
  run?: RunCommand
}

/** Some backends own processes: they are disposed of with the registry. */
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

/** The engine of a name; the usual one where it is undefined. Throws ToolFailure. */
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
