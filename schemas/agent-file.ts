import { z } from 'zod'
import { clientPrompt } from './client-prompt.ts'
import { timezone } from './config.ts'
import { duration } from './duration.ts'
import { eventListed, missedPolicy } from './inbox.ts'
import { conversationId, name } from './names.ts'
import { globs } from './tool-rules.ts'

/** With whom an agent talks besides the owner. */
export const sharing = z.union([z.boolean(), z.array(conversationId).min(1)])
export type SharedWith = z.infer<typeof sharing>

/** The front matter of `agents/<name>.md`. Unknown keys are errors. */
export const agentFile = z.strictObject({
  description: z.string().default(''),
  tools: z.array(z.string().min(1)).default(['*']).describe('globs over tools; "!glob" takes away'),
  model: name.default('default').describe('which model thinks for it: default, or one of model.named'),
  approve: globs.default([]).describe("globs over tools that need a person's yes; adds to the config's"),
  grants: globs
    .default([])
    .describe(
      "tools that may run in every cycle, and not only in those that people's messages alone began; a destructive one only by its exact name",
    ),
  events: z.array(eventListed).default([]).describe('event types that wake its main thread, or make a task'),
  schedules: z
    .array(
      z.strictObject({
        cron: z.string().min(1),
        timezone: timezone.optional(),
        reason: z.string().min(1),
        missed: missedPolicy.default('latest').describe('what the hub slept through: latest, all or skip'),
      }),
    )
    .default([]),
  limits: z
    .strictObject({
      steps: z.int().min(1).max(1000).default(30).describe('calls of the model in one cycle'),
      minutes: z.number().positive().max(1440).default(10).describe('one cycle may take'),
      tokens: z
        .int()
        .min(1000)
        .default(600_000)
        .describe('input and output of one cycle; what is cached counts a tenth'),
      calls: z.int().min(1).default(100).describe('calls of tools in one cycle'),
      wakesPerDay: z.int().min(1).default(200).describe("cycles of a day without a person's message"),
      tokensPerDay: z
        .int()
        .min(1000)
        .default(5_000_000)
        .describe('input and output of a day, as of one cycle'),
      moneyPerDay: z.number().positive().optional().describe("of a day, in the prices' currency"),
      tasks: z.int().min(0).default(5).describe('tasks at once'),
    })
    .prefault({}),
  idleReset: duration.optional().describe('after so long without activity it starts from summaries'),
  conversations: z.array(conversationId).min(1).optional().describe('default: one named like the agent'),
  shared: sharing
    .default(false)
    .describe(
      'whether members and guests talk with it, each in conversations of their own; a list names conversations that all members use too',
    ),
  prompt: clientPrompt.optional().describe('offered to people by clients of the hub, as an MCP prompt'),
})
export type AgentFile = z.infer<typeof agentFile>
