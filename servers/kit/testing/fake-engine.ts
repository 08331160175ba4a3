import type { ContainerDetails, ContainerEvent, Engine } from '../docker/engine.ts'

/** An engine in memory that records its requests. */
export interface FakeEngine extends Engine {
  /** Containers by name; tests change them. */
  readonly containers: Map<string, ContainerDetails>
  /** Replaces the containers. */
  hold(...containers: ContainerDetails[]): void
  readonly asked: string[]
  /** The answer of `version`. */
  says: string
  /** Sends an event to the followers. */
  happen(event: Partial<ContainerEvent>): void
  /** Number of followers. */
  readonly followers: number
  /** Ends the followers' streams. */
  breakOff(): void
  /** Makes every call fail with the error, and ends the followers' streams; undefined makes it work again. */
  fail(error: Error | undefined): void
}

const toId = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0')

export function fakeContainer(name: string, more: Partial<ContainerDetails> = {}): ContainerDetails {
  return {
    id: toId(name),
    name,
    image: `${name}:latest`,
    state: 'running',
    labels: {},
    health: undefined,
    healthOutput: undefined,
    restarts: 0,
    exitCode: undefined,
    oom: false,
    error: undefined,
    startedAt: 0,
    finishedAt: undefined,
    ...more,
  }
}

export function createFakeEngine(name = 'docker', containers: readonly ContainerDetails[] = []): FakeEngine {
  const byName = new Map(containers.map(one => [one.name, one]))
  const asked: string[] = []
  const following = new Set<{ onEvent: (event: ContainerEvent) => void; end: (error: Error) => void }>()
  let failure: Error | undefined
  const find = (id: string) => [...byName.values()].find(one => one.id === id || one.name === id)
  const nameOf = (id: string) => find(id)?.name ?? id
  const end = (error: Error) => {
    for (const one of following) one.end(error)
  }
  const answer = async <Value>(call: string, value: () => Value): Promise<Value> => {
    asked.push(call)
    if (failure) throw failure
    return value()
  }
  const engine: FakeEngine = {
    name,
    address: `/run/${name}.sock`,
    containers: byName,
    asked,
    says: 'Docker 20.10.24',
    get followers() {
      return following.size
    },
    happen(event) {
      const { name: container = '' } = event
      const whole = { kind: 'start', name: container, exitCode: undefined, health: undefined, at: 0 } as const
      for (const { onEvent } of following) onEvent({ ...whole, id: toId(container), ...event })
    },
    hold(...held) {
      byName.clear()
      for (const one of held) byName.set(one.name, one)
    },
    breakOff: () => end(new Error('the stream ended')),
    fail(error) {
      failure = error
      if (error) end(error)
    },
    version: () => answer('version', () => engine.says),
    list: ({ label = '' }) =>
      answer('list', () =>
        [...byName.values()].filter(({ labels }) => label === '' || (label.split('=')[0] ?? '') in labels),
      ),
    inspect: id => answer(`inspect ${nameOf(id)}`, () => find(id)),
    use: id =>
      answer(`use ${nameOf(id)}`, () => ({
        cpuPercent: 150.26,
        memoryBytes: 300 * 2 ** 20,
        memoryLimitBytes: 2 ** 31,
      })),
    logs: (id, options) =>
      answer(`logs ${nameOf(id)} ${JSON.stringify(options)}`, () =>
        Array.from({ length: Math.min(options.tail, 6) }, (_, index) => `line ${index}\u001b[0m`),
      ),
    start: id => answer(`start ${nameOf(id)}`, () => true),
    stop: (id, grace) => answer(`stop ${nameOf(id)} ${grace}`, () => true),
    restart: (id, grace) => answer(`restart ${nameOf(id)} ${grace}`, () => undefined),
    async follow(onEvent, signal, ready) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      if (failure) throw failure
      const one = { onEvent, end: reject }
      following.add(one)
      signal.addEventListener('abort', () => resolve(), { once: true })
      ready()
      await promise.finally(() => following.delete(one))
    },
  }
  return engine
}
