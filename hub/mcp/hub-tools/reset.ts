import { z } from 'zod'
import { name } from '../../../schemas/names.ts'
import { type HubToolDeps, meantAgent } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

export function reset(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_reset',
    title: 'Start an agent fresh',
    description:
      "Starts an agent's history fresh. Stored context, schedules and tasks stay; what was before is still found by search. The message enters the fresh history as a note.",
    input: z.strictObject({
      agent: name.optional(),
      message: z.string().trim().min(1).max(4_000).optional().describe('why, for the agent'),
    }),
    output: z.object({ agent: z.string(), conversation: z.string() }),
    effect: 'removes',
    async run({ agent: named, message }, { token }) {
      const agent = await meantAgent(deps, named)
      const { conversation } = await deps.reset({ agent: agent.name, by: token, message })
      return { agent: agent.name, conversation }
    },
    toText: ({ agent }) => `${agent} starts fresh.`,
  })
}
