import { z } from 'zod'
import { name } from '../../../schemas/names.ts'
import { plural, toLine } from '../../core/text.ts'
import { defineHubTool } from './hub-tool.ts'

export const acceptTools = defineHubTool({
  name: 'hub_accept_tools',
  title: "Accept a server's changed tools",
  description:
    'Accepts the tools of a server as they are now (hub_status names those that changed). Calls of agents to a tool that became more dangerous no longer ask for that reason. For a person to decide.',
  input: z.strictObject({ server: name }),
  output: z.object({ accepted: z.array(z.string()).describe('the tools that had changed') }),
  effect: 'removes',
  right: 'admin',
  run: async ({ server }, { principal, deps }) => ({
    accepted: await deps.acceptTools(server, principal.name),
  }),
  toText: ({ accepted }) =>
    accepted.length === 0
      ? 'No tool had changed.'
      : toLine(`Accepted ${plural(accepted.length, 'changed tool')}: ${accepted.join(', ')}.`),
})
