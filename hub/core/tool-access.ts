import type { JsonObject } from './forwarding.ts'
import { matchesGlobs } from './glob.ts'

/** Which tools there are for whom: an agent's globs, or for a task also those of everyone above it. */
export type ToolAccess = readonly string[] | TaskAccess

export interface TaskAccess {
  agent: readonly string[]
  /** The globs of each maker; all of them must give a tool. */
  task: readonly (readonly string[])[]
  /** The JSON schema of the result with which `complete_task` ends this task. */
  result?: JsonObject
}

/** What a task lacks unless each of its makers names it; `*` is not enough. */
const WITHHELD: ReadonlySet<string> = new Set(['create_task', 'schedule_cron', 'send_message'])

/** Whether a server's tool is given. */
export function givesTool(access: ToolAccess, name: string): boolean {
  return layersOf(access).every(globs => matchesGlobs(globs, name))
}

/** Whether there may be a servers' tool that is given, now or later. */
export function givesAnyTool(access: ToolAccess): boolean {
  return layersOf(access).every(globs => globs.some(glob => !isNegative(glob)))
}

/** Whether a meta-tool is given: always, unless taken away, or withheld from a task. */
export function givesMetaTool(access: ToolAccess, name: string): boolean {
  const isKept = layersOf(access).every(globs => matchesGlobs(['*', ...globs.filter(isNegative)], name))
  return isKept && (!WITHHELD.has(name) || isNamed(access, name))
}

/** Whether each maker of a task names the tool; an agent itself needs no such word. */
export function isNamed(access: ToolAccess, name: string): boolean {
  return 'task' in access ? access.task.every(globs => globs.includes(name)) && access.task.length > 0 : true
}

function layersOf(access: ToolAccess): readonly (readonly string[])[] {
  return 'task' in access ? [access.agent, ...access.task] : [access]
}

function isNegative(glob: string): boolean {
  return glob.startsWith('!')
}
