import { z } from 'zod'
import { type Clock, sleep } from '../../kit/clock.ts'
import type { Engine } from '../../kit/engine/engine.ts'
import { cleanText, toByteText, toPercentText, toTenth } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Machine, Owner, ProcessUse } from '../machine/machine.ts'
import { WINDOW } from '../sampler.ts'

const input = z.strictObject({
  sort: z.enum(['cpu', 'memory']).default('cpu'),
  limit: z.int().min(1).max(100).default(10),
  name: z.string().min(1).max(100).optional().describe('a part of the name'),
})

const output = z.object({
  total: z.int().describe('processes on the machine'),
  matching: z.int().describe('those that fit the name, before the limit'),
  sort: z.enum(['cpu', 'memory']),
  processes: z.array(
    z.object({
      pid: z.int(),
      name: z.string(),
      cpuPercent: z.number().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number(),
      memoryPercent: z.number().describe("of the machine's memory, 0 to 100"),
      user: z.string().optional(),
      unit: z.string().optional().describe('its systemd unit'),
      container: z.string().optional().describe('the container that it runs in'),
    }),
  ),
})

interface ProcessesDeps {
  machine: Machine
  clock: Clock
  /** Returns the engines, for the names of containers. */
  engines?: () => readonly Engine[]
}

/** `get_processes`: lists what uses the CPU and the memory. */
export function getProcesses({ machine, clock, engines = () => [] }: ProcessesDeps): Tool {
  return defineTool({
    name: 'get_processes',
    title: 'Processes',
    description:
      'What uses the most CPU or memory on this machine now, or whether a program runs (name). Names only: ' +
      'command lines may hold passwords.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    output,
    async run({ sort, limit, name }, signal) {
      const [all, memory] = await Promise.all([
        machine.processes(() => sleep(clock, WINDOW, signal)),
        machine.memory(),
      ])
      const wanted = name?.toLowerCase() ?? ''
      const matching = all.filter(use => use.name.toLowerCase().includes(wanted))
      const shown = matching.sort((a, b) => compare(a, b, sort)).slice(0, limit)
      const owners = (await machine.owners?.(shown.map(({ pid }) => pid))) ?? new Map<number, Owner>()
      const containers = await readNames([...owners.values()], engines, signal)
      const processes = shown.map(use => ({
        ...toProcess(use, memory.totalBytes),
        ...toOwner(owners.get(use.pid), containers),
      }))
      const data = { total: all.length, matching: matching.length, sort, processes }
      return { data, text: toText(data, name) }
    },
  })
}

/**
 * Reads the names of containers by their ids, only if a process runs in one; an engine that is down gives
 * none.
 */
async function readNames(
  owners: readonly Owner[],
  engines: () => readonly Engine[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (owners.every(({ containerId }) => containerId === undefined)) return new Map()
  const lists = await Promise.all(
    engines().map(engine =>
      engine.list({ signal }).catch(() => {
        signal.throwIfAborted()
        return []
      }),
    ),
  )
  return new Map(lists.flat().map(({ id, name }): [string, string] => [id, name]))
}

function toOwner(owner: Owner | undefined, names: ReadonlyMap<string, string>) {
  if (!owner) return {}
  const { user, unit, containerId } = owner
  return {
    user: cleanText(user, 60),
    ...(unit === undefined ? {} : { unit: cleanText(unit, 100) }),
    ...(containerId === undefined
      ? {}
      : { container: cleanText(names.get(containerId) ?? containerId.slice(0, 12), 100) }),
  }
}

function compare(a: ProcessUse, b: ProcessUse, sort: 'cpu' | 'memory'): number {
  const byCpu = b.cpuPercent - a.cpuPercent
  const byMemory = b.memoryBytes - a.memoryBytes
  return (sort === 'cpu' ? byCpu || byMemory : byMemory || byCpu) || a.pid - b.pid
}

function toProcess({ pid, name, cpuPercent, memoryBytes }: ProcessUse, totalBytes: number) {
  const share = totalBytes > 0 ? (memoryBytes / totalBytes) * 100 : 0
  return {
    pid,
    name: cleanText(name, 60),
    cpuPercent: toTenth(cpuPercent),
    memoryBytes,
    memoryPercent: toTenth(share),
  }
}

function toText(data: z.input<typeof output>, name: string | undefined): string {
  const { total, matching, sort, processes } = data
  const which =
    name === undefined ? `${total} processes` : `${matching} of ${total} processes match "${cleanText(name)}"`
  const lines = processes.map(
    process =>
      `${process.pid} ${process.name}: CPU ${toPercentText(process.cpuPercent)}, memory ${toByteText(process.memoryBytes)} (${toPercentText(process.memoryPercent)})${toOwnerText(process)}`,
  )
  const head =
    processes.length > 0
      ? `${which}; the ${processes.length} with the most ${sort === 'cpu' ? 'CPU' : sort}:`
      : `${which}.`
  return [head, ...lines].join('\n')
}

/** Returns ", container jellyfin, user 1000". */
function toOwnerText({ user, unit, container }: z.input<typeof output>['processes'][number]): string {
  return [
    container === undefined ? '' : `, container ${container}`,
    unit === undefined ? '' : `, unit ${unit}`,
    user === undefined ? '' : `, user ${user}`,
  ].join('')
}
