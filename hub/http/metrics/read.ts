import { readdirSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import type { HubStatus } from '../../../schemas/hub-status.ts'
import { Counter, Gauge } from './prom-client.ts'

interface Sample {
  labels?: Record<string, string>
  value: number
}

interface Figure {
  name: string
  help: string
  type?: 'counter'
  labels?: string[]
  /** Returns what is shown at this scrape. */
  of(state: Readings): Sample[]
}

interface Readings {
  status: HubStatus
  now: number
}

const one = (value: number): Sample[] => [{ value }]

/** The figures that stand in the store or in memory, and are read at each scrape. */
const STATE: readonly Figure[] = [
  {
    name: 'info',
    help: 'The hub, with its version.',
    labels: ['version'],
    of: ({ status: { hub } }) => [{ labels: { version: hub.version }, value: 1 }],
  },
  {
    name: 'server_state',
    help: 'The state of each server: 1 for the one that it is in.',
    labels: ['server', 'state'],
    of: ({ status }) =>
      status.servers.map(({ name, state }) => ({ labels: { server: name, state }, value: 1 })),
  },
  {
    name: 'server_tools',
    help: 'Tools that each server offers.',
    labels: ['server'],
    of: ({ status }) => status.servers.map(({ name, tools }) => ({ labels: { server: name }, value: tools })),
  },
  {
    name: 'model_up',
    help: 'Whether a model is asked: 0 while its provider is down.',
    labels: ['model'],
    of: ({ status }) =>
      status.model.health.map(({ name, state }) => ({
        labels: { model: name },
        value: state === 'ok' ? 1 : 0,
      })),
  },
  {
    name: 'inbox_items',
    help: 'Items that wait for a cycle.',
    labels: ['agent'],
    of: ({ status }) =>
      status.queues.agents.map(({ name, waiting }) => ({ labels: { agent: name }, value: waiting })),
  },
  {
    name: 'inbox_oldest_item_age_seconds',
    help: 'Age of the oldest item that waits.',
    labels: ['agent'],
    of: ({ status, now }) =>
      status.queues.agents.map(({ name, oldestAt }) => ({
        labels: { agent: name },
        value: oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) / 1000,
      })),
  },
  {
    name: 'cycles_active',
    help: 'Cycles that run or wait for their turn.',
    of: ({ status }) => one(status.queues.busy),
  },
  {
    name: 'cycles_parked',
    help: 'Cycles that wait until a model answers.',
    of: ({ status }) => one(status.model.parked),
  },
  {
    name: 'agents_held',
    help: '1 while no agent runs, after a crash loop.',
    of: ({ status }) => one(status.held ? 1 : 0),
  },
  {
    name: 'dead_letters_open',
    help: 'Cycles that failed for good and wait for a decision.',
    of: ({ status }) => one(status.deadLetters.open),
  },
  {
    name: 'approvals_open',
    help: 'Calls that wait for a yes.',
    of: ({ status }) => one(status.queues.approvals),
  },
  {
    name: 'problems',
    help: 'Problems of the config, the agent files and the store.',
    of: ({ status }) => one(status.problems.length),
  },
  {
    name: 'budget_used_ratio',
    help: 'Part of a limit of the day that is used: of one agent, or of all.',
    labels: ['agent', 'limit'],
    of: ({ status }) => toRatios(status.budgets),
  },
  {
    name: 'store_size_bytes',
    help: 'Size of the store on the disk.',
    of: ({ status }) => one(status.store.bytes),
  },
]

function toRatios({ tokens, money, agents }: HubStatus['budgets']): Sample[] {
  const all = [{ name: 'all', tokens, money, wakes: { used: 0 } }, ...agents]
  return all.flatMap(each =>
    (['tokens', 'money', 'wakes'] as const).flatMap(limit => {
      const { used, limit: most }: { used: number; limit?: number | undefined } = each[limit]
      return most === undefined || most === 0
        ? []
        : [{ labels: { agent: each.name, limit }, value: used / most }]
    }),
  )
}

/** The process, under the names that Prometheus' clients share. Nothing measures between scrapes. */
const PROCESS: readonly Figure[] = [
  {
    name: 'process_cpu_seconds_total',
    help: 'Time of the processor, of user and system.',
    type: 'counter',
    of() {
      const { user, system } = process.cpuUsage()
      return one((user + system) / 1e6)
    },
  },
  {
    name: 'process_start_time_seconds',
    help: 'Start of the process, in seconds since 1970.',
    of: () => one(performance.timeOrigin / 1000),
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    of: () => one(process.memoryUsage.rss()),
  },
  {
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    // The listing itself opens one.
    of: () => (process.platform === 'linux' ? one(readdirSync('/proc/self/fd').length - 1) : []),
  },
  {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used heap.',
    of: () => one(process.memoryUsage().heapUsed),
  },
  {
    name: 'nodejs_eventloop_active_seconds_total',
    help: 'Time in which the event loop was busy; its rate is the load of the one thread.',
    type: 'counter',
    of: () => one(performance.eventLoopUtilization().active / 1000),
  },
]

/** Registers the figures that are read at a scrape; `read` is called once for each. */
export function addRead(registry: Registry): (readings: Readings) => void {
  const all = [...STATE.map(figure => ({ ...figure, name: `superbloom_${figure.name}` })), ...PROCESS]
  const shown = all.map(({ name, help, type, labels: labelNames = [], of }) => {
    const options = { name, help, labelNames, registers: [registry] }
    return { metric: type === 'counter' ? new Counter(options) : new Gauge(options), of }
  })
  return readings => {
    for (const { metric, of } of shown) {
      metric.reset()
      for (const { labels = {}, value } of of(readings)) metric.inc(labels, value)
    }
  }
}
