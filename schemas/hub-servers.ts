import { z } from 'zod'
import { TOOL_CLASSES } from './power.ts'

/**
 * Modes of a tool. `on`: everyone uses it as the policy says. `run`: agents use it without asking where a person
 * wants it. `routine`: they do so also in work that a schedule, an event or another agent began. `ask`: an agent
 * asks a person each time. `deny`: no agent uses it. `off`: the hub leaves it out.
 */
export const TOOL_MODES = ['on', 'run', 'routine', 'ask', 'deny', 'off'] as const
export type ToolMode = (typeof TOOL_MODES)[number]

/** A tool of a server, as the settings show it. */
export const serverTool = z.object({
  name: z.string().describe('in the hub'),
  original: z.string().describe('on its server'),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  mode: z.enum(TOOL_MODES),
  rule: z.string().optional().describe('the rule that makes it so, where that names more than this tool'),
  toolClass: z.enum(TOOL_CLASSES).optional().describe('none of a tool that is off'),
})
export type ServerTool = z.infer<typeof serverTool>

/** The result of `hub_read_server`. */
export const serverDetails = z.object({
  name: z.string(),
  file: z.string().optional().describe('the file that has its entry'),
  entry: z.record(z.string(), z.unknown()).optional().describe('without secrets'),
  isBuiltIn: z.boolean(),
  tools: z.array(serverTool),
})
export type ServerDetails = z.infer<typeof serverDetails>

export const serverLogLine = z.object({
  at: z.number().describe('unix milliseconds'),
  by: z.enum(['server', 'hub']),
  text: z.string(),
})
export type ServerLogLine = z.infer<typeof serverLogLine>
