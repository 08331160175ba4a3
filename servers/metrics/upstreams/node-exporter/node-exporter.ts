import type { Clock } from '../../../kit/clock.ts'
import { UpstreamFailure } from '../../../kit/upstream/failure.ts'
import type { Upstream } from '../../../kit/upstream/upstream.ts'
import type { Machine } from '../../machine/machine.ts'
import { toDisks } from './disks.ts'
import { parseExposition } from './exposition.ts'
import { createFacts, type Facts, toAbout, toCounters, toCpu, toMemory } from './facts.ts'
import { toTemperatures } from './sensors.ts'

/** Milliseconds in which one answer serves several reads; shorter than the sampler's pause. */
const FRESH = 300
/** Largest answer in bytes; a large machine's is half a megabyte. */
const MAX_BYTES = 8 * 2 ** 20

/** The metrics that are read; an exporter has a thousand others. */
const WANTED =
  /^node_(boot_time|cpu_(info|seconds)|dmi|exporter_build|filesystem|hwmon|load|memory|network_(receive|transmit)_bytes|os_info|thermal_zone_temp|time_seconds|uname)/

/** A machine as its node-exporter describes it: all but processes and drives, which reject. */
export interface ScrapedMachine extends Machine {
  /** Requests a new answer, so that the next reads are current. Rejects with UpstreamFailure. */
  refresh(signal?: AbortSignal): Promise<void>
  /** Returns the exporter's version, if it has one. */
  version(): Promise<string | undefined>
}

/** Creates the machine behind a Linux node-exporter. `host` is its name here. */
export function createScrapedMachine(host: string, upstream: Upstream, clock: Clock): ScrapedMachine {
  let last: { at: number; facts: Facts } | undefined
  let running: Promise<Facts> | undefined

  async function scrape(): Promise<Facts> {
    const answer = await upstream.raw('GET', '/metrics', {
      headers: { accept: 'text/plain;version=0.0.4' },
      maxBytes: MAX_BYTES,
    })
    const facts = createFacts(
      parseExposition(answer.text(), name => WANTED.test(name)),
      clock.monotonic(),
    )
    if (!facts.has('node_cpu_seconds_total') || !facts.has('node_memory_MemTotal_bytes')) {
      throw toForeign(upstream)
    }
    last = { at: clock.monotonic(), facts }
    return facts
  }
  const ask = () => {
    running ??= scrape().finally(() => {
      running = undefined
    })
    return running
  }
  const facts = async () => {
    const known = last
    return known !== undefined && clock.monotonic() - known.at < FRESH ? known.facts : ask()
  }
  const unknown = () => Promise.reject(new Error('a node-exporter does not tell this'))
  return {
    refresh: async () => void (await ask()),
    version: async () => (await facts()).label('node_exporter_build_info', 'version'),
    about: async () => toAbout(await facts(), host),
    cpu: async () => toCpu(await facts()),
    counters: async () => toCounters(await facts()),
    memory: async () => toMemory(await facts()),
    disks: async () => toDisks(await facts()),
    temperatures: async () => toTemperatures(await facts()),
    processes: unknown,
    drives: unknown,
  }
}

function toForeign({ title, address }: Upstream): UpstreamFailure {
  return new UpstreamFailure({
    kind: 'unexpected',
    what: `${title} did not answer as the node-exporter of a Linux machine.`,
    where: `GET ${address}/metrics`,
    why: 'its answer has no metrics of a CPU and a memory (node_cpu_seconds_total, node_memory_MemTotal_bytes)',
    fix: 'Check that the address is that of a node-exporter (port 9100 unless changed), with its collectors cpu and meminfo on.',
  })
}
