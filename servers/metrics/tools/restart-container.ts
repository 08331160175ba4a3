import { hostname } from 'node:os'
import { z } from 'zod'
import { confirmField, confirmOutput, toPreview } from '../../kit/confirm.ts'
import { foreignText } from '../../kit/foreign.ts'
import { quote } from '../../kit/text.ts'
import { defineTool, type Tool } from '../../kit/tool.ts'
import { decideSurprise, doRestart, findRestart, type Restart, toDidNotStay } from '../containers/restart.ts'
import type { Sources } from '../containers/sources.ts'
import { listTargets } from '../containers/targets.ts'

const SECOND = 1000
/** Milliseconds besides the grace period: listing, stopping and starting. */
const SLACK = 60 * SECOND

const output = z.object({
  ...confirmOutput,
  container: foreignText(300),
  engine: z.string(),
  state: z.string().optional().describe('of a container, after the restart'),
  health: z
    .enum(['starting', 'healthy', 'unhealthy'])
    .optional()
    .describe('absent: it has no health check, or is a pod'),
})

/** `restart_container`: restarts a container, a pod or all pods of a workload. */
export function restartContainer(deps: { sources: Sources; ownHost?: string }): Tool {
  const { sources, ownHost = hostname() } = deps
  return defineTool({
    name: 'restart_container',
    title: 'Restart a container',
    description:
      'Restarts a container, a pod, or all pods of a Deployment or StatefulSet one by one; interrupts what ' +
      'uses it. Call it when a person asks, or status and logs show that it hangs. Where that hits more ' +
      'than one that runs, it only says what it would do, unless confirm is true.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    input: z.strictObject({
      container: z
        .string()
        .min(1)
        .max(300)
        .describe('container, Compose service, pod, Deployment or StatefulSet'),
      grace: z.int().min(0).max(300).default(10).describe('seconds to end by itself'),
      confirm: confirmField,
      engine: z.string().max(100).optional(),
    }),
    output,
    limit: ({ grace }) => grace * SECOND + SLACK,
    async run({ container, grace, confirm, engine }, signal, report) {
      const listing = await listTargets(sources, engine, signal)
      const asked = new Set(listing.failed.map(({ source }) => source))
      const clusters = sources
        .clusters()
        .filter(
          ({ name }) =>
            !asked.has(name) && (engine === undefined || engine.toLowerCase() === name.toLowerCase()),
        )
      const restart = await findRestart(listing, clusters, container, signal)
      const named = { container: restart.name, engine: restart.source.name }
      const surprise = decideSurprise(restart, ownHost)
      if (surprise && !confirm) {
        const preview = toPreview(surprise.would, surprise.effects)
        return { ...preview, data: { ...preview.data, ...named } }
      }
      report(1, 2, `restarting ${restart.name}`)
      await doRestart(restart, grace, signal)
      return tell(restart, named, signal)
    },
  })
}

async function tell(restart: Restart, named: { container: string; engine: string }, signal: AbortSignal) {
  const name = `${quote(named.container, 300)} (${named.engine})`
  const data = { done: true, ...named }
  if (restart.kind === 'pod')
    return { data, text: `The pod ${name} is deleted; its workload makes a new one.` }
  if (restart.kind === 'workload') return { data, text: `The pods of ${name} are restarted one by one.` }
  const after = await restart.source.inspect(restart.details.id, signal)
  if (!after) return { data, text: `${name} was restarted, and is gone since.` }
  const { state, health } = after
  if (state === 'exited' || state === 'dead') throw toDidNotStay(restart.name, named.engine, after)
  const check = health === undefined ? '' : `, its health check says ${health}`
  return {
    data: { ...data, state, health },
    text: `${name} was restarted and is ${state}${check}.`,
  }
}
