import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { foreignText } from '../../kit/foreign.ts'
import { type Page, page, pageFields, pageOutput, toMoreText } from '../../kit/page.ts'
import { quote, toByteText, toCountText, toPercentText, toSpanText, toTenth } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import type { Sources } from '../containers/sources.ts'
import { readStatuses, readUses, type Status, type Use } from '../containers/status.ts'
import { type Listing, listTargets, matchTargets, type Target, toUnknown } from '../containers/targets.ts'

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
      cpuPercent: z.number().optional().describe('of one core, so it may exceed 100'),
      memoryBytes: z.number().optional().describe('without the page cache'),
      memoryLimitBytes: z.number().optional(),
    }),
  ),
  counts: z.object({ all: z.int(), running: z.int(), unhealthy: z.int().describe('something is wrong') }),
  failed: z
    .array(z.object({ source: z.string(), reason: z.string() }))
    .describe('engines and clusters that could not be asked'),
  ...pageOutput,
})
type Data = z.input<typeof output>

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
      const data: Data = {
        containers: part.items.map(status => toShown(status, uses.get(status.target))),
        counts: {
          all: statuses.length,
          running: statuses.filter(isRunning).length,
          unhealthy: statuses.filter(isIll).length,
        },
        failed: [...listing.failed],
        total: part.total,
        offset: part.offset,
        more: part.more,
      }
      return { data, text: toText(data, part, listing, clock.now()), untrusted: part.items.length > 0 }
    },
  })
}

const isIll = ({ problem }: Status) => problem !== undefined
const isRunning = ({ state }: Status) => state.toLowerCase() === 'running'

function toShown(status: Status, use: Use | undefined): Data['containers'][number] {
  const { target, health, healthOutput, problem, exitCode, oom, startedAt } = status
  const place = target.kind === 'container' ? { image: target.container.image } : toNode(target.pod.node)
  return {
    name: target.name,
    kind: target.kind,
    engine: target.source.name,
    ...place,
    state: status.state,
    restarts: status.restarts,
    ...(health === undefined ? {} : { health }),
    ...(healthOutput === undefined || health === 'healthy' ? {} : { healthOutput }),
    ...(problem === undefined ? {} : { problem }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(oom ? { oom } : {}),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(use === undefined ? {} : toUseFields(use)),
  }
}

function toNode(node: string | undefined): { node?: string } {
  return node === undefined ? {} : { node }
}

function toUseFields({ cpuPercent, memoryBytes, memoryLimitBytes }: Use) {
  const limit = memoryLimitBytes === undefined ? {} : { memoryLimitBytes }
  return { cpuPercent: toTenth(cpuPercent), memoryBytes, ...limit }
}

function toText(data: Data, part: Page<Status>, { failed }: Listing, now: number): string {
  const { all, running, unhealthy } = data.counts
  const ill = unhealthy === 0 ? 'nothing is wrong with any' : `${unhealthy} with a problem`
  return [
    all === 0 ? 'There is no container.' : `${toCountText(all, 'container')}, ${running} running, ${ill}.`,
    ...data.containers.map(container => toLine(container, now)),
    ...[toMoreText(part, 'container')].filter(line => line !== undefined),
    ...failed.map(({ source, reason }) => `Not asked: ${source}. ${reason}`),
  ].join('\n')
}

function toLine(container: Data['containers'][number], now: number): string {
  const { problem, healthOutput, cpuPercent, memoryBytes, memoryLimitBytes, startedAt } = container
  const isUp = container.state.toLowerCase() === 'running'
  const limit = memoryLimitBytes === undefined ? '' : ` of ${toByteText(memoryLimitBytes)}`
  const facts = [
    container.kind === 'pod' ? quote(container.state, 100) : container.state,
    container.health,
    isUp && startedAt !== undefined ? `up ${toSpanText(Math.max(0, now - startedAt) / 1000)}` : undefined,
    container.restarts > 0 ? toCountText(container.restarts, 'restart') : undefined,
    cpuPercent === undefined ? undefined : `CPU ${toPercentText(cpuPercent)} of a core`,
    memoryBytes === undefined ? undefined : `memory ${toByteText(memoryBytes)}${limit}`,
  ].filter(fact => fact !== undefined)
  const said = healthOutput === undefined ? '' : `; its check says ${quote(healthOutput, 200)}`
  const wrong = problem === undefined ? '' : `. PROBLEM: ${quote(problem)}${said}`
  return `- ${quote(container.name, 300)} (${container.engine}): ${facts.join(', ')}${wrong}.`
}
