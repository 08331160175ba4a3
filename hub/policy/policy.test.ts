import { expect, test } from 'vitest'
import { POWERS, type Power, TOOL_CLASSES, type ToolClass, type ToolFacts } from '../../schemas/power.ts'
import { classOf, decidePolicy, type PolicyRules } from './policy.ts'

const NO_RULES: PolicyRules = { approve: [], allow: [], deny: [], classes: {} }

interface Case {
  power?: Power
  tool?: Partial<ToolFacts>
  grants?: string[]
  approve?: string[]
  rules?: Partial<PolicyRules>
  hasReadForeign?: boolean
}

function decide({ power = 'person', tool, grants = [], approve = [], rules, hasReadForeign = false }: Case) {
  const facts = { name: 'x', declared: 'change', trust: 'own', isOwnChannel: false, ...tool } as const
  const agent = { name: 'homelab', approve, grants }
  return decidePolicy({ ...NO_RULES, ...rules }, { tool: facts, power, agent, hasReadForeign })
}

const TABLE: Record<Power, Record<ToolClass | 'own', 'run' | 'ask'>> = {
  person: { look: 'run', change: 'run', destroy: 'ask', send: 'run', own: 'run' },
  routine: { look: 'run', change: 'ask', destroy: 'ask', send: 'ask', own: 'run' },
  guest: { look: 'run', change: 'ask', destroy: 'ask', send: 'ask', own: 'ask' },
  foreign: { look: 'run', change: 'ask', destroy: 'ask', send: 'ask', own: 'run' },
}

test.for(POWERS)('promise 14: what %s may do by default', power => {
  const kindOf = (tool: Partial<ToolFacts>) => decide({ power, tool }).kind
  const kinds = Object.fromEntries(TOOL_CLASSES.map(declared => [declared, kindOf({ declared })]))
  expect({ ...kinds, own: kindOf({ declared: 'send', isOwnChannel: true }) }).toEqual(TABLE[power])
})

test.for<[string, Case, string]>([
  ['a grant by name', { tool: { declared: 'destroy' }, grants: ['x'] }, 'run'],
  ['a grant by glob of what destroys', { tool: { declared: 'destroy' }, grants: ['*'] }, 'ask'],
  ['a grant by glob of what changes', { power: 'routine', grants: ['x*'] }, 'run'],
  ['a grant for a guest', { power: 'guest', grants: ['x'] }, 'ask'],
  ['a grant in work from outside', { power: 'foreign', grants: ['x'] }, 'ask'],
  ['a grant of what sends', { power: 'routine', tool: { declared: 'send' }, grants: ['x'] }, 'run'],
  [
    'a grant of what sends, after reading from outside',
    { power: 'routine', tool: { declared: 'send' }, grants: ['x'], hasReadForeign: true },
    'ask',
  ],
  ['approve of the config', { rules: { approve: ['x'] }, grants: ['x'] }, 'ask'],
  ['approve of the agent', { approve: ['*'], grants: ['x'] }, 'ask'],
  ['approve of what looks', { tool: { declared: 'look' }, approve: ['x'] }, 'ask'],
  [
    'a risen tool',
    { tool: { declared: 'look', risen: 'it rose' }, rules: { allow: [ANY()] }, grants: ['x'] },
    'ask',
  ],
  ['a risen tool that is denied', { tool: { risen: 'it rose' }, rules: { deny: ['x'] } }, 'refuse'],
  ['deny', { tool: { declared: 'look' }, rules: { deny: ['x'], allow: [ANY()] } }, 'refuse'],
  ['allow for that power', { power: 'foreign', rules: { allow: [ANY('foreign')] } }, 'run'],
  ['allow for a higher power', { power: 'foreign', rules: { allow: [ANY('routine')] } }, 'ask'],
  ['allow by glob of what destroys', { tool: { declared: 'destroy' }, rules: { allow: [ANY()] } }, 'ask'],
  ['allow and approve', { rules: { approve: ['x'], allow: [ANY()] } }, 'ask'],
  ['a person who has read from outside sends', { tool: { declared: 'send' }, hasReadForeign: true }, 'ask'],
  [
    'a person who has read from outside sends by grant',
    { tool: { declared: 'send' }, hasReadForeign: true, grants: ['x'] },
    'ask',
  ],
  [
    'a person who has read from outside writes to their own channel',
    { tool: { declared: 'send', isOwnChannel: true }, hasReadForeign: true },
    'run',
  ],
])('%s', ([_, given, expected]) => {
  const { kind, reason } = decide(given)
  expect(kind).toBe(expected)
  expect(reason).toMatch(/\w/)
})

function ANY(power: Power = 'foreign') {
  return { tools: ['*'], power }
}

test.for<[ToolClass, 'own' | 'third', PolicyRules['classes'], ToolClass]>([
  ['look', 'third', { destroy: ['x'] }, 'destroy'],
  ['change', 'third', { look: ['x'] }, 'change'],
  ['change', 'own', { look: ['x'] }, 'look'],
  ['destroy', 'own', { change: ['x'] }, 'change'],
  ['change', 'third', { send: ['x*'] }, 'send'],
  ['change', 'own', { look: ['x'], destroy: ['x'] }, 'destroy'],
  ['change', 'own', { look: ['y'] }, 'change'],
])(
  'a tool that is %s of a server that is %s, with the classes %j: %s',
  ([declared, trust, classes, expected]) => {
    const facts = { name: 'x', declared, trust, isOwnChannel: false }
    expect(classOf({ ...NO_RULES, classes }, facts)).toBe(expected)
  },
)
