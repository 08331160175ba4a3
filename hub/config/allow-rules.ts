import type { ToolMode } from '../../schemas/hub-servers.ts'
import { isAtLeast, type Power, type ToolClass } from '../../schemas/power.ts'
import { HubError } from '../core/errors.ts'
import { isObject } from '../core/forwarding.ts'
import { matchesGlobs } from '../core/glob.ts'
import { changeList, toJson } from './edit-yaml.ts'
import { readDocument } from './yaml-document.ts'
import type { YamlSource } from './yaml-file.ts'

/** One rule of `tools.allow`. */
export interface AllowRule {
  tools: readonly string[]
  power: Power
}

type Allowed = { name: string; toolClass?: ToolClass | undefined }

const POWER_OF: Partial<Record<ToolMode, Power>> = { run: 'person', routine: 'routine' }

/** Returns the rule that a mode writes for one tool; undefined where it writes none. */
export function toAllowRule(name: string, mode: ToolMode): AllowRule | undefined {
  const power = POWER_OF[mode]
  return power && { tools: [name], power }
}

/** Returns how a tool runs without asking, and the rule where that is more than the tool's own. */
export function decideAllowed(rules: readonly AllowRule[], tool: Allowed) {
  const found = rules.filter(rule => namesTool(rule, tool))
  const widest = found.find(({ power }) => power !== 'person') ?? found[0]
  if (!widest) return undefined
  const mode = widest.power === 'person' ? 'run' : 'routine'
  const isOwn = isFor(widest, tool.name) && isAtLeast(widest.power, 'routine')
  return {
    mode,
    ...(isOwn ? {} : { rule: `tools.allow: ${widest.tools.join(', ')} (${widest.power})` }),
  } as const
}

/** Returns the text with the rule of a mode for one tool in `tools.allow`. Throws `conflict` where another rule names it. */
export function setAllowed(source: YamlSource, tool: Allowed, mode: ToolMode): string {
  const { file } = source
  const path = ['tools', 'allow']
  const wanted = toAllowRule(tool.name, mode)
  const rules = readRules(source.text)
  const other = rules.find(rule => !isFor(rule, tool.name) && namesTool(rule, tool))
  if (other && (wanted || mode === 'on')) {
    const found = other.tools.join(', ')
    throw new HubError(
      'conflict',
      `${file}: tools.allow has ${found}, which ${tool.name} fits: change that rule there.`,
    )
  }
  const without = rules
    .filter(rule => isFor(rule, tool.name) && !(wanted && rule.power === wanted.power))
    .reduce((text, rule) => changeList({ file, text }, path, rule, 'remove'), source.text)
  return wanted ? changeList({ file, text: without }, path, wanted, 'add') : without
}

/** Tells whether a rule names a tool: a destructive one only by its exact name. */
function namesTool({ tools }: AllowRule, { name, toolClass }: Allowed): boolean {
  return toolClass === 'destroy' ? tools.includes(name) : matchesGlobs(tools, name)
}

function isFor({ tools }: AllowRule, name: string): boolean {
  return tools.length === 1 && tools[0] === name
}

/** Reads the rules as they are written: one without a power has none here. */
function readRules(text: string): AllowRule[] {
  const { tools } = toJson(readDocument(text).document)
  const list = isObject(tools) ? tools['allow'] : undefined
  return Array.isArray(list) ? list.filter(one => isObject(one) && Array.isArray(one['tools'])) : []
}
