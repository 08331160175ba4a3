import { z } from 'zod'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

const server = z.object({
  name: z.string(),
  state: z.enum(['starting', 'ready', 'down', 'not_running']),
  origin: z.enum(['built-in', 'config', 'drop-in']),
  transport: z.enum(['stdio', 'http']).optional(),
  era: z.enum(['legacy', 'modern']).optional(),
  tools: z.int(),
  error: z.string().optional(),
  nextTryAt: z.number().optional().describe('unix milliseconds'),
  collisions: z.array(z.string()).optional(),
})

export const hubStatus = z.object({
  hub: z.object({ name: z.string(), version: z.string(), startedAt: z.number(), uptimeMs: z.number() }),
  model: z.object({ kind: z.enum(['rules', 'openai']), name: z.string(), baseUrl: z.string().optional() }),
  servers: z.array(server),
  queues: z.object({ waiting: z.int().describe('inbox items'), busy: z.int().describe('cycles') }),
  store: z.object({ kind: z.string(), bytes: z.number() }),
  problems: z.array(z.string()).describe('of the config and of agent files'),
})
export type HubStatus = z.infer<typeof hubStatus>

export function status(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_status',
    title: 'Status of the hub',
    description:
      'Servers and their health, the model, queues, the store, and what is wrong with config or agent files.',
    input: z.strictObject({}),
    output: hubStatus,
    effect: 'reads',
    run: () => deps.status(),
    toText: describeStatus,
  })
}

/** The status as lines for a person. */
export function describeStatus(state: HubStatus): string {
  const servers = state.servers.map(
    one => `  ${one.name}: ${one.state}, ${one.tools} tools${one.error ? ` (${one.error})` : ''}`,
  )
  return [
    `${state.hub.name} ${state.hub.version}, model ${state.model.name} (${state.model.kind})`,
    `${state.queues.busy} cycles run, ${state.queues.waiting} inbox items wait`,
    'Servers:',
    ...(servers.length > 0 ? servers : ['  none']),
    ...state.problems.map(problem => `Problem: ${problem}`),
  ].join('\n')
}
