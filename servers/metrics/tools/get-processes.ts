import { z } from 'zod'
import { type Clock, sleep } from '../../kit/clock.ts'
import type { Engine } from '../../kit/docker/engine.ts'
import { cleanedText, tenths } from '../../kit/fields.ts'
import { known, type Text, toFacts } from '../../kit/render.ts'
import { cleanText, toByteText, toPercentText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import type { Machine, Owner, ProcessUse } from '../machine/machine.ts'
import { WINDOW } from '../machine/sampler.ts'

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
      name: cleanedText(60),
      cpuPercent: tenths().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number(),
      memoryPercent: tenths().describe("of the machine's memory, 0 to 100"),
      user: cleanedText(60).optional(),
      unit: cleanedText(100).optional().describe('its systemd unit'),
      container: cleanedText(100).optional().describe('the container that it runs in'),
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
      const processes = shown.map(use => {
        const { user, unit, containerId } = owners.get(use.pid) ?? {}
        return {
          ...use,
          memoryPercent: memory.totalBytes > 0 ? (use.memoryBytes / memory.totalBytes) * 100 : 0,
          user,
          unit,
          container: known(containerId, id => containers.get(id) ?? id.slice(0, 12)),
        }
      })
      const data = { total: all.length, matching: matching.length, sort, processes }
      return { data, text: cleaned => toText(cleaned, name) }
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

function compare(a: ProcessUse, b: ProcessUse, sort: 'cpu' | 'memory'): number {
  const byCpu = b.cpuPercent - a.cpuPercent
  const byMemory = b.memoryBytes - a.memoryBytes
  return (sort === 'cpu' ? byCpu || byMemory : byMemory || byCpu) || a.pid - b.pid
}

function toText({ total, matching, sort, processes }: DataOf<typeof output>, name: string | undefined): Text {
  const which =
    name === undefined ? `${total} processes` : `${matching} of ${total} processes match "${cleanText(name)}"`
  return [
    processes.length > 0
      ? `${which}; the ${processes.length} with the most ${sort === 'cpu' ? 'CPU' : sort}:`
      : `${which}.`,
    processes.map(one =>
      toFacts([
        `${one.pid} ${one.name}: CPU ${toPercentText(one.cpuPercent)}`,
        `memory ${toByteText(one.memoryBytes)} (${toPercentText(one.memoryPercent)})`,
        one.container && `container ${one.container}`,
        one.unit && `unit ${one.unit}`,
        one.user && `user ${one.user}`,
      ]),
    ),
  ]
}
