import { type Catalogue, ENDING_TOOLS, findTool, type KnownTool } from './catalogue.ts'
import type { Field } from './fields.ts'
import { askMissing, type Question, withValues } from './questions.ts'
import { type Outcome, wordResult } from './results.ts'
import type { TimeFrame } from './when.ts'

/** What one item leads to next. */
export type Plan =
  | { kind: 'say'; text: string }
  | { kind: 'ask'; question: Question }
  | { kind: 'call'; name: string; arguments: Record<string, unknown> }
  /** A call that ends the cycle, so the text beside it is the reply. */
  | { kind: 'end'; name: string; arguments: Record<string, unknown>; text: string }

/** What deciding needs to know besides the item. */
export interface Scene extends TimeFrame {
  catalogue: Catalogue
}

export function say(text: string): Plan {
  return { kind: 'say', text }
}

/** Calls a tool by the way that it is reached: directly, through `call_tool`, or as the cycle's last act. */
export function planCall(tool: KnownTool, values: Record<string, unknown>): Plan {
  if (tool.found)
    return { kind: 'call', name: 'call_tool', arguments: { name: tool.name, arguments: values } }
  if (ENDING_TOOLS.includes(tool.name)) {
    return {
      kind: 'end',
      name: tool.name,
      arguments: values,
      text: `I run \`${tool.name}\`${withValues(values)}.`,
    }
  }
  return { kind: 'call', name: tool.name, arguments: values }
}

/** Calls a meta-tool, or says that this agent lacks it. */
export function planMeta(scene: Scene, name: string, values: Record<string, unknown>, what: string): Plan {
  const tool = findTool(scene.catalogue, name)
  return tool ? planCall(tool, values) : say(`I can't ${what} here: this agent has no \`${name}\`.`)
}

export function planMissing(tool: KnownTool, values: Record<string, unknown>, field: Field, note = ''): Plan {
  return { kind: 'ask', question: askMissing(tool.name, values, field, note) }
}

/** The result of a call with what was called, in words. */
export function sayOutcome(outcome: Outcome, scene: Scene): Plan {
  const called = unwrap(outcome)
  const text = wordResult(called, scene.timezone)
  if (called.isError || /^\s*waiting: approval/i.test(called.text)) return say(text)
  const who = `\`${called.name}\`${withValues(called.arguments)}`
  return say(text.includes('\n') ? `Here is what ${who} says:\n\n${text}` : `${who}: ${text}`)
}

/** What was called through `call_tool` is told by its own name. */
function unwrap(outcome: Outcome): Outcome {
  const { name, arguments: inner } = outcome.arguments
  if (outcome.name !== 'call_tool' || typeof name !== 'string') return outcome
  return { ...outcome, name, arguments: typeof inner === 'object' && inner !== null ? { ...inner } : {} }
}
