import { z } from 'zod'
import { name } from '../../../schemas/names.ts'
import { power, TOOL_CLASSES } from '../../../schemas/power.ts'
import { HubError } from '../../core/errors.ts'
import { toLine } from '../../core/text.ts'
import { meantAgent } from './deps.ts'
import { defineHubTool } from './hub-tool.ts'

const SAID = { run: 'runs', ask: 'asks a person', refuse: 'is refused' } as const

export const explainPolicy = defineHubTool({
  name: 'hub_explain_policy',
  title: 'What an agent may do',
  description:
    "Says of an agent's tools, or of one, whether a call would run, ask a person or be refused, and why, by the power of the work that the call is part of.",
  input: z.strictObject({
    tool: z.string().min(1).max(200).optional().describe('default: all tools of servers'),
    power: power.default('person'),
    agent: name.optional().describe('default: homelab, else the first'),
    hasReadForeign: z.boolean().default(false).describe('whether the work has read a text from outside'),
  }),
  output: z.object({
    tools: z.array(
      z.object({
        tool: z.string(),
        toolClass: z.enum(TOOL_CLASSES),
        kind: z.enum(['run', 'ask', 'refuse']),
        reason: z.string(),
      }),
    ),
  }),
  effect: 'reads',
  async run({ agent, ...question }, { deps }) {
    const { name } = await meantAgent(deps, agent)
    const tools = deps.explain({ ...question, agent: name })
    if (tools.length === 0 && question.tool !== undefined)
      throw new HubError('not_found', `The agent ${name} has no tool ${question.tool} of a server now`)
    return { tools }
  },
  toText: ({ tools }) =>
    tools
      .map(({ tool, toolClass, kind, reason }) => toLine(`${tool} (${toolClass}) ${SAID[kind]}: ${reason}`))
      .join('\n') || 'No server offers a tool now.',
})
