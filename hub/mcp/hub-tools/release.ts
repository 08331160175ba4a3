import { z } from 'zod'
import { endHold } from '../../store/hub-state.ts'
import type { HubToolDeps } from './deps.ts'
import { defineHubTool, type HubTool } from './hub-tool.ts'

export function releaseAgents(deps: HubToolDeps): HubTool {
  return defineHubTool({
    name: 'hub_release_agents',
    title: 'Let held agents go',
    description:
      'Lets the agents run again that are held after a crash loop (hub_status says held). Read the log before.',
    input: z.strictObject({}),
    output: z.object({ released: z.boolean().describe('false: no agent was held') }),
    effect: 'adds',
    async run(_args, { token }) {
      const released = await deps.store.write(endHold)
      if (released) deps.signals.emit('released', { by: token })
      return { released }
    },
    toText: ({ released }) => (released ? 'The agents run again.' : 'No agent was held.'),
  })
}
