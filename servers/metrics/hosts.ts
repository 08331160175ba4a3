import type { Clock } from '../kit/clock.ts'
import { ToolFailure } from '../kit/failure.ts'
import { cleanText } from '../kit/text.ts'
import type { Upstream } from '../kit/upstream/upstream.ts'
import { type HttpInstance, nodeExporterSpec } from './config.ts'
import type { Machine } from './machine/machine.ts'
import { createSampler, type Sampler } from './machine/sampler.ts'
import { createScrapedMachine, type ScrapedMachine } from './upstreams/node-exporter/node-exporter.ts'
import { openUpstream } from './upstreams/upstreams.ts'

/** A monitored machine, with its name in results and events. */
export interface Host {
  readonly name: string
  readonly machine: Machine
  readonly sampler: Sampler
}

/** A host behind a node-exporter. */
export interface RemoteHost extends Host {
  readonly machine: ScrapedMachine
  readonly upstream: Upstream
}

export type Hosts = ReturnType<typeof openHosts>

/** Opens the hosts without sending requests. */
export function openHosts(local: Host, instances: readonly HttpInstance[], clock: Clock) {
  const taken = new Set([local.name.toLowerCase()])
  const remote = instances.map((instance): RemoteHost => {
    const name = toFreeName(toHostName(instance), taken)
    taken.add(name.toLowerCase())
    const upstream = openUpstream(instance, clock, `Node-exporter (${name})`)
    const machine = createScrapedMachine(name, upstream, clock)
    return { name, machine, sampler: createSampler(machine, clock), upstream }
  })
  const all = [local, ...remote]
  return {
    local,
    remote,
    /**
     * Picks the host of this name, in any case; without a name this machine. Throws a ToolFailure that lists
     * the hosts.
     */
    pick(name: string | undefined): Host {
      if (name === undefined) return local
      const found = all.find(host => host.name.toLowerCase() === name.trim().toLowerCase())
      if (found) return found
      throw new ToolFailure({
        what: `There is no host called "${cleanText(name, 60)}".`,
        where: 'the hosts that are looked after',
        why: `there is ${all.map(host => host.name).join(', ')}`,
        fix: 'Call it again with one of these names, or without a name for this machine. The owner adds a host with NODE_EXPORTER_<NAME>_URL.',
      })
    },
  }
}

/** Returns the instance's name, or the host in its URL if it has no name of its own. */
function toHostName({ name, title, settings, problem }: HttpInstance): string {
  const isUnnamed = title === nodeExporterSpec.title
  return isUnnamed && problem === undefined ? new URL(settings.URL).hostname : name
}

/**
 * Numbers a taken name: an exporter on this very machine would otherwise raise its events twice under one
 * key.
 */
function toFreeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`
    if (!taken.has(free.toLowerCase())) return free
  }
}
