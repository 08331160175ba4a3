import { z } from 'zod'
import { agentFile, sharing } from './agent-file.ts'
import { missedPolicy, storedFact } from './inbox.ts'
import { TOOL_CLASSES } from './power.ts'

/** What is wrong with the text of an agent's file. */
export const agentProblem = z.object({
  line: z.int().optional().describe('of the file, from 1'),
  message: z.string(),
})
export type AgentProblem = z.infer<typeof agentProblem>

const answer = z.enum(['run', 'ask', 'refuse'])

/** What an agent's file means now. */
export const agentMeaning = z.object({
  description: z.string(),
  model: z.string(),
  shared: sharing,
  conversations: z.array(z.string()),
  tools: z
    .array(
      z.object({
        tool: z.string(),
        toolClass: z.enum(TOOL_CLASSES),
        person: answer.describe('when a person asked for it'),
        routine: answer.describe('when a schedule, an event or another agent began the work'),
      }),
    )
    .describe('the tools of servers that it has now'),
  unmatched: z.array(z.string()).describe('globs of its file that match no tool now'),
  schedules: z.array(
    z.object({
      cron: z.string(),
      timezone: z.string(),
      reason: z.string(),
      missed: missedPolicy,
      nextRun: z.number().optional().describe('unix milliseconds'),
    }),
  ),
  events: z.array(z.string()).describe('types that wake it'),
  limits: agentFile.shape.limits.unwrap(),
})
export type AgentMeaning = z.infer<typeof agentMeaning>

/** An agent's file, what it means, and what the agent remembers. */
export const agentEdit = z.object({
  agent: z.string(),
  file: z.string(),
  text: z.string().optional().describe('missing where there is no such file'),
  sha256: z.string().optional().describe('of the text'),
  former: z.string().optional().describe('the text before the last change over the hub'),
  problems: z.array(agentProblem),
  meaning: agentMeaning.optional(),
  facts: z
    .array(storedFact)
    .describe("power: of the work that stored it; missing for a person's or the house's own"),
})
export type AgentEdit = z.infer<typeof agentEdit>
