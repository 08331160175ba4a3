import type { ContainerDetails, Engine } from '../../kit/engine/engine.ts'
import type { Backend, BackendState } from '../game.ts'
import { isCrashCode, MISSING } from './state.ts'

/** A container of Docker or Podman. */
export function createDockerBackend(container: string, engine: Engine): Backend {
  return {
    kind: 'docker',
    where: `container ${container} of ${engine.address}`,
    async state(signal) {
      const details = await engine.inspect(container, signal)
      return details === undefined ? MISSING : toState(details)
    },
    start: signal => engine.start(container, signal),
    stop: (graceSeconds, signal) => engine.stop(container, graceSeconds, signal),
    restart: (graceSeconds, signal) => engine.restart(container, graceSeconds, signal),
    logs: (lines, signal) => engine.logs(container, { tail: lines }, signal),
    async use(signal) {
      const { cpuPercent, memoryBytes } = await engine.use(container, signal)
      return { cpuPercent, memoryBytes }
    },
  }
}

function toState(details: ContainerDetails): BackendState {
  const { state, health, oom, exitCode, restarts } = details
  const ended = state === 'exited' || state === 'dead'
  return {
    state: toWord(details),
    detail: [ended && exitCode !== undefined ? `exited with code ${exitCode}` : state, details.error]
      .filter(Boolean)
      .join(': '),
    startedAt: details.startedAt,
    stoppedAt: ended ? details.finishedAt : undefined,
    exitCode: ended ? exitCode : undefined,
    oom: ended && oom,
    restarts,
    health,
  }
}

function toWord({ state, exitCode, oom }: ContainerDetails): BackendState['state'] {
  switch (state) {
    case 'running':
      return 'running'
    case 'restarting':
      return 'starting'
    case 'created':
    case 'paused':
    case 'removing':
      return 'stopped'
    case 'exited':
    case 'dead':
      return isCrashCode(exitCode, oom) ? 'failed' : 'stopped'
    default:
      return state satisfies never
  }
}
