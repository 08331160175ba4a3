import type { ContainerDetails, Engine } from '../../../kit/docker/engine.ts'
import type { Backend, BackendState } from '../../game.ts'
import { isCrashCode, KILLED, MISSING } from '../state.ts'

/**
 * Creates the backend of a container of Docker or Podman. `find` returns its engine, and throws if that does
 * not exist now.
 */
export function createDockerBackend(container: string, find: () => Engine): Backend {
  const inside = async <Result>(use: (engine: Engine) => Promise<Result>) => use(find())
  return {
    kind: 'docker',
    where: `container ${container}`,
    async state(signal) {
      const details = await inside(engine => engine.inspect(container, signal))
      return details === undefined ? MISSING : toState(details)
    },
    start: signal => inside(engine => engine.start(container, signal)),
    stop: (graceSeconds, signal) => inside(engine => engine.stop(container, graceSeconds, signal)),
    restart: (graceSeconds, signal) => inside(engine => engine.restart(container, graceSeconds, signal)),
    logs: (lines, signal) => inside(engine => engine.logs(container, { tail: lines }, signal)),
    async use(signal) {
      const { cpuPercent, memoryBytes } = await inside(engine => engine.use(container, signal))
      return { cpuPercent, memoryBytes }
    },
  }
}

function toState(details: ContainerDetails): BackendState {
  const { state, health, oom, exitCode, restarts } = details
  const ended = state === 'exited' || state === 'dead'
  const isLooping = state === 'restarting'
  return {
    state: toWord(details),
    detail: [toDetail(state, ended ? exitCode : undefined, isLooping ? exitCode : undefined), details.error]
      .filter(Boolean)
      .join(': '),
    startedAt: details.startedAt,
    stoppedAt: ended ? details.finishedAt : undefined,
    exitCode: ended || isLooping ? exitCode : undefined,
    oom: (ended || isLooping) && oom,
    restarts,
    health,
  }
}

function toDetail(state: string, end: number | undefined, lastEnd: number | undefined): string {
  if (end !== undefined) return `exited with code ${end}`
  return lastEnd === undefined ? state : `${state} after it ended with code ${lastEnd}`
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
      // An engine kills a container that does not end in time, so this code alone is not a failure.
      return isCrashCode(exitCode, oom) && (oom || exitCode !== KILLED) ? 'failed' : 'stopped'
    default:
      return state satisfies never
  }
}
