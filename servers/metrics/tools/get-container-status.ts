import { z } from 'zod'
import { failedField, toFailedLines } from '../../kit/ask-all.ts'
import type { Clock } from '../../kit/clock.ts'
import { tenths } from '../../kit/fields.ts'
import { foreignText } from '../../kit/foreign.ts'
import { page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { known, toFacts } from '../../kit/render.ts'
import { quote, toByteText, toCountText, toPercentText, toSpanText } from '../../kit/text.ts'
import { type DataOf, defineTool, type Tool } from '../../kit/tool.ts'
import type { Sources } from '../containers/sources.ts'
import { readStatuses, readUses, type Status, type Use } from '../containers/status.ts'
import { listTargets, matchTargets, type Target, toUnknown } from '../containers/targets.ts'

const LIMIT = 60_000

const output = z.object({
  containers: z.array(
    z.object({
      name: foreignText(300, 'of a pod with its namespace before it'),
      kind: z.enum(['container', 'pod']),
      engine: z.string().describe('the engine or cluster that runs it'),
      image: foreignText(300).optional(),
      node: foreignText(100).optional(),
      state: foreignText(100, 'such as "running" or "exited"; of a pod the reason where there is one'),
      health: z
        .enum(['starting', 'healthy', 'unhealthy'])
        .optional()
        .describe('absent: it has no health check'),
      healthOutput: foreignText(300, 'of the last health check').optional(),
      problem: foreignText(200, 'what is wrong with it; absent: nothing').optional(),
      restarts: z.int().describe('how often its engine started it anew by itself'),
      exitCode: z.int().optional(),
      oom: z.boolean().optional().describe('true: its last end was for using too much memory'),
      startedAt: z.number().optional().describe('unix milliseconds'),
      cpuPercent: tenths().optional().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number().optional().describe('without the page cache'),
      memoryLimitBytes: z.number().optional(),
    }),
  ),
  counts: z.object({ all: z.int(), running: z.int(), unhealthy: z.int().describe('something is wrong') }),
  failed: failedField('engines and clusters that could not be asked'),
  ...pageOutput,
})
type Row = DataOf<typeof output>['containers'][number]

/** `get_container_status`: returns the status and the use of containers and pods. */
export function getContainerStatus({ sources, clock }: { sources: Sources; clock: Clock }): Tool {
  return defineTool({
    name: 'get_container_status',
    title: 'Container status',
    description:
      'State, health, restarts, CPU and memory of containers (Docker, Podman) and pods (Kubernetes): all, ' +
      'one, or those with a problem (unhealthy). Then get_container_logs for why.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      container: z.string().min(1).max(300).optional().describe('container, Compose service, pod or app'),
      unhealthy: z.boolean().default(false),
      use: z.boolean().default(true).describe('false: faster, without CPU and memory'),
      engine: z.string().max(100).optional().describe('or cluster'),
      ...pageFields(50, 200),
    }),
    output,
    limit: LIMIT,
    async run({ container, unhealthy, use, engine, ...paging }, signal) {
      const listing = await listTargets(sources, engine, signal)
      const wanted = container === undefined ? listing.targets : matchTargets(listing.targets, container)
      if (container !== undefined && wanted.length === 0) throw toUnknown(listing, container)
      const statuses = await readStatuses(wanted, signal)
      const part = page(unhealthy ? statuses.filter(isIll) : statuses, paging)
      const uses = use ? await readUses(part.items, signal) : new Map<Target, Use>()
      const { items, ...rest } = part
      const containers = items.map(status => toRow(status, uses.get(status.target)))
      const running = statuses.filter(isRunning).length
      const ill = statuses.filter(isIll).length
      return {
        data: {
          containers,
          counts: { all: statuses.length, running, unhealthy: ill },
          failed: listing.failed,
          ...rest,
        },
        text: [
          statuses.length === 0
            ? 'There is no container.'
            : `${toCountText(statuses.length, 'container')}, ${running} running, ${ill === 0 ? 'nothing is wrong with any' : `${ill} with a problem`}.`,
          containers.map(container => toLine(container, clock.now())),
          toMoreText(part, 'container'),
          toFailedLines(listing.failed),
        ],
        untrusted: items.length > 0,
      }
    },
  })
}

const isIll = ({ problem }: Status) => problem !== undefined
const isRunning = ({ state }: Status) => state.toLowerCase() === 'running'

function toRow({ target, ...status }: Status, use: Use | undefined): Row {
  const isContainer = target.kind === 'container'
  return {
    ...status,
    ...use,
    name: target.name,
    kind: target.kind,
    engine: target.source.name,
    image: isContainer ? target.container.image : undefined,
    node: isContainer ? undefined : target.pod.node,
    healthOutput: status.health === 'healthy' ? undefined : status.healthOutput,
    oom: status.oom || undefined,
  }
}

function toLine(container: Row, now: number): string {
  const { state, startedAt, restarts, problem, memoryLimitBytes } = container
  const isUp = state.toLowerCase() === 'running' && startedAt !== undefined
  const limit = memoryLimitBytes === undefined ? '' : ` of ${toByteText(memoryLimitBytes)}`
  const facts = toFacts([
    container.kind === 'pod' ? quote(state, 100) : state,
    container.health,
    isUp && `up ${toSpanText(Math.max(0, now - startedAt) / 1000)}`,
    restarts > 0 && toCountText(restarts, 'restart'),
    known(container.cpuPercent, percent => `CPU ${toPercentText(percent)} of a core`),
    known(container.memoryBytes, bytes => `memory ${toByteText(bytes)}${limit}`),
  ])
  const said = known(container.healthOutput, output => `; its check says ${quote(output, 200)}`) ?? ''
  const wrong = problem === undefined ? '' : `. PROBLEM: ${quote(problem)}${said}`
  return `- ${quote(container.name, 300)} (${container.engine}): ${facts}${wrong}.`
}
