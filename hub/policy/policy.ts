import {
  isAtLeast,
  type Power,
  strictest,
  TOOL_CLASSES,
  type ToolClass,
  type ToolFacts,
} from '../../schemas/power.ts'
import { matchesGlob, matchesGlobs } from '../core/glob.ts'

/** The operator's rules: `tools` of the config. */
export interface PolicyRules {
  approve: readonly string[]
  allow: readonly { tools: readonly string[]; power: Power }[]
  deny: readonly string[]
  classes: { [Class in ToolClass]?: readonly string[] | undefined }
}

export interface PolicyQuestion {
  tool: ToolFacts
  power: Power
  agent: { name: string; approve: readonly string[]; grants: readonly string[] }
  /** Whether the cycle has read a text that comes from outside. */
  hasReadForeign: boolean
}

/** The policy's answer, with its reason in words for people and models. */
export interface Verdict {
  kind: 'run' | 'ask' | 'refuse'
  toolClass: ToolClass
  reason: string
  /** Whether a person may let further calls run that ask for this reason. */
  mayBeAllowed: boolean
}

/** Decides whether an agent's call of a server's tool runs, needs a person's yes, or is refused. */
export function decidePolicy(rules: PolicyRules, question: PolicyQuestion): Verdict {
  const { tool, power, agent } = question
  const { name } = tool
  const toolClass = classOf(rules, tool)
  const verdict = (kind: Verdict['kind'], reason: string): Verdict => ({
    kind,
    toolClass,
    reason,
    mayBeAllowed: kind === 'ask' && tool.risen === undefined,
  })
  if (matchesGlobs(rules.deny, name)) return verdict('refuse', 'tools.deny of the config lists it')
  if (tool.risen !== undefined) return verdict('ask', tool.risen)
  if (matchesGlobs(rules.approve, name)) return verdict('ask', 'tools.approve of the config lists it')
  if (matchesGlobs(agent.approve, name)) return verdict('ask', `approve in agents/${agent.name}.md lists it`)
  const allowed = rules.allow.some(
    entry => isAtLeast(power, entry.power) && names(entry.tools, name, toolClass),
  )
  if (allowed) return verdict('run', 'tools.allow of the config lists it')
  return verdict(...decideByTable(question, toolClass))
}

/** Returns the class of a tool; the operator makes it looser only for servers of the operator's own. */
export function classOf({ classes }: PolicyRules, { name, declared, trust }: ToolFacts): ToolClass {
  const said = TOOL_CLASSES.findLast(each => matchesGlobs(classes[each] ?? [], name))
  if (said === undefined) return declared
  return trust === 'third' ? strictest(said, declared) : said
}

/** Tells whether globs name a tool. A destructive one counts only by its exact name. */
function names(globs: readonly string[], name: string, toolClass: ToolClass): boolean {
  return toolClass === 'destroy' ? globs.includes(name) : globs.some(glob => matchesGlob(glob, name))
}

const WHO: Record<Power, string> = {
  person: 'a person asked for it',
  routine: 'a schedule, an event or another agent began this work',
  guest: 'a guest began this work',
  foreign: 'a text from outside began this work',
}

/** The table of powers and classes. */
function decideByTable(
  { tool, power, agent, hasReadForeign }: PolicyQuestion,
  toolClass: ToolClass,
): ['run' | 'ask', string] {
  const who = WHO[power]
  if (toolClass === 'look') return ['run', 'it only looks']
  if (power === 'guest') return ['ask', `it ${DOES[toolClass]}, and ${who}`]
  if (toolClass === 'send' && tool.isOwnChannel) return ['run', "it reaches the house's own channels"]
  if (toolClass === 'send' && hasReadForeign && power !== 'foreign')
    return ['ask', `it ${DOES.send}, and this work has read a text from outside`]
  if (power === 'person' && toolClass !== 'destroy') return ['run', who]
  const granted = power !== 'foreign' && names(agent.grants, tool.name, toolClass)
  if (granted) return ['run', `grants in agents/${agent.name}.md names it`]
  const missing = power === 'foreign' ? '' : `; grants in agents/${agent.name}.md does not name it`
  return ['ask', `it ${DOES[toolClass]}, and ${who}${missing}`]
}

const DOES: Record<Exclude<ToolClass, 'look'>, string> = {
  change: 'changes something',
  send: 'reaches people or places outside',
  destroy: 'is destructive',
}
