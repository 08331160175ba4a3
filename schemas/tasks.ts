import { z } from 'zod'

/** Limits of a task's cycles; each counts only where it is below the agent's. */
export const taskLimits = z.strictObject({
  steps: z.int().min(1).optional().describe('calls of the model in one cycle'),
  minutes: z.number().positive().optional().describe('one cycle may take'),
  tokens: z.int().min(1000).optional().describe('input and output of one cycle'),
})
export type TaskLimits = z.infer<typeof taskLimits>

/** Tools and limits that a task's maker gave it. */
export const taskGrants = z.object({
  /** Globs of its maker, and of its maker's maker: all of them must include a tool. */
  tools: z.array(z.array(z.string())).default([]),
  limits: taskLimits.default({}),
  /** Messages between agents that led to the task without a person. */
  hops: z.int().nonnegative().default(0),
  /** JSON schema that the task's result must fit. */
  schema: z.record(z.string(), z.unknown()).optional(),
})
export type TaskGrants = z.infer<typeof taskGrants>
