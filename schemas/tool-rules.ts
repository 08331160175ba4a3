import { z } from 'zod'

export const globs = z.array(z.string().min(1))

/** Globs over a server's tools, by their names there. */
export const toolRules = z.union([
  z.looseObject({
    only: globs.optional().describe('the only tools that the hub takes'),
    never: globs.optional().describe('tools that the hub leaves out'),
  }),
  // Copilot lists here the tools that it takes.
  globs.transform((only): { only: string[]; never?: string[] } => ({ only })),
])
export type ToolRules = z.infer<typeof toolRules>
