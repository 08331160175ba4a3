import type { JsonObject } from './forwarding.ts'
import { matchesGlobs } from './glob.ts'

/** Tools that a principal may call: an agent's globs, or for a task also those of everyone above it. */
export type ToolAccess = readonly string[] | TaskAccess

export interface TaskAccess {
  agent: readonly string[]
  /** Globs of each maker; all of them must include a tool. */
  task: readonly (readonly string[])[]
  /** JSON schema of the result with which `complete_task` ends this task. */
  result?: JsonObject
}

/** Meta-tools that a task lacks unless each of its makers names them; `*` is not enough. */
const WITHHELD: ReadonlySet<string> = new Set(['create_task', 'schedule_cron', 'send_message'])

export function givesTool(access: ToolAccess, name: string): boolean {
  return layersOf(access).every(globs => matchesGlobs(globs, name))
}

/** Tells whether the access may include a server's tool, now or later. */
export function givesAnyTool(access: ToolAccess): boolean {
  return layersOf(access).every(globs => globs.some(glob => !isNegative(glob)))
}

/** Tells whether the access includes a meta-tool: always, unless it is excluded, or withheld from a task. */
export function givesMetaTool(access: ToolAccess, name: string): boolean {
  const isKept = layersOf(access).every(globs => matchesGlobs(['*', ...globs.filter(isNegative)], name))
  return isKept && (!WITHHELD.has(name) || isNamed(access, name))
}

/** Tells whether each maker of a task names the tool; true for an agent itself, which needs no naming. */
export function isNamed(access: ToolAccess, name: string): boolean {
  return 'task' in access ? access.task.every(globs => globs.includes(name)) && access.task.length > 0 : true
}

function layersOf(access: ToolAccess): readonly (readonly string[])[] {
  return 'task' in access ? [access.agent, ...access.task] : [access]
}

function isNegative(glob: string): boolean {
  return glob.startsWith('!')
}
