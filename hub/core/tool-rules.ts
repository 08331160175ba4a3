import type { ToolRules } from '../../schemas/tool-rules.ts'
import { matchesGlobs } from './glob.ts'

/** Tells whether the hub takes a tool of a server, by the rules of its entry and the tool's name there. */
export function isTaken({ only, never = [] }: ToolRules = {}, original: string): boolean {
  return (only === undefined || matchesGlobs(only, original)) && !matchesGlobs(never, original)
}
