import type { Container, ContainerDetails, ContainerEvent, Engine } from '../../kit/docker/engine.ts'
import { UpstreamFailure } from '../../kit/upstream/failure.ts'

export interface FakeEngine extends Engine {
  containers: (Container & Partial<ContainerDetails>)[]
  /** False makes every call fail. */
  answers: boolean
  /** Calls that changed something, such as "stop arena 30". */
  readonly done: string[]
  /** The answer of `version`. */
  says: string
  /** Sends an event to the followers. */
  tell(event: Partial<ContainerEvent> & Pick<ContainerEvent, 'kind' | 'name'>): void
  /** Ends the stream of events. */
  breakOff(): void
}

export function fakeContainer(
  name: string,
  labels: Record<string, string> = {},
  parts: Partial<ContainerDetails> = {},
): Container & Partial<ContainerDetails> {
  return { id: `${name}-id`, name, image: 'lab', state: 'running', labels, ...parts }
}

/** Creates an engine in memory. */
export function createFakeEngine(name = 'docker'): FakeEngine {
  let listeners: ((event: ContainerEvent) => void)[] = []
  let broken = Promise.withResolvers<void>()
  const inside = async <Result>(use: () => Result): Promise<Result> => {
    if (engine.answers) return use()
    throw new UpstreamFailure({
      kind: 'unreachable',
      what: 'Docker could not be reached.',
      where: 'sock',
      why: 'there is no such socket',
      fix: 'Start it.',
    })
  }
  const find = (container: string) => engine.containers.find(one => one.name === container)
  const engine: FakeEngine = {
    name,
    address: '/fake.sock',
    containers: [],
    answers: true,
    done: [],
    says: 'Docker 20.10.24',
    version: () => inside(() => engine.says),
    list: ({ label = '' }) =>
      inside(() => engine.containers.filter(({ labels }) => (label.split('=')[0] as string) in labels)),
    inspect: container =>
      inside(() => {
        const found = find(container)
        return found && { ...NEVER_RAN, ...found }
      }),
    use: () => inside(() => ({ cpuPercent: 12, memoryBytes: 2 ** 30, memoryLimitBytes: undefined })),
    logs: (container, { tail }) => inside(() => [`${container} says`, 'hello'].slice(-tail)),
    start: container => inside(() => engine.done.push(`start ${container}`) > 0),
    stop: (container, grace) => inside(() => engine.done.push(`stop ${container} ${grace}`) > 0),
    restart: (container, grace) => inside(() => void engine.done.push(`restart ${container} ${grace}`)),
    async follow(onEvent, signal, ready) {
      await inside(() => undefined)
      broken = Promise.withResolvers<void>()
      listeners.push(onEvent)
      signal.addEventListener('abort', () => broken.resolve())
      ready()
      await broken.promise
      listeners = []
      if (!signal.aborted) throw new Error('the stream ended')
    },
    tell(event) {
      const whole = { id: `${event.name}-id`, exitCode: undefined, health: undefined, at: 0, ...event }
      for (const listener of listeners) listener(whole)
    },
    breakOff: () => broken.resolve(),
  }
  return engine
}

const NEVER_RAN = {
  health: undefined,
  healthOutput: undefined,
  restarts: 0,
  exitCode: undefined,
  oom: false,
  error: undefined,
  startedAt: undefined,
  finishedAt: undefined,
}
