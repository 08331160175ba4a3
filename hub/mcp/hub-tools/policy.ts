import { z } from 'zod'
import { type Allowance, allowance, type ExplainedTool, explainedTool } from '../../../schemas/hub-lists.ts'
import { name } from '../../../schemas/names.ts'
import { power } from '../../../schemas/power.ts'
import { toIso, toLocal } from '../../core/clock.ts'
import { HubError } from '../../core/errors.ts'
import { toLine } from '../../core/text.ts'
import { allowedUntil, listAllowances, revokeAllowance } from '../../store/allowances.ts'
import type { AllowanceRow } from '../../store/tables.ts'
import { meantAgent } from './deps.ts'
import { defineHubTool, toView } from './hub-tool.ts'

const SAID = { run: 'runs', ask: 'asks a person', refuse: 'is refused' } as const

export const explainPolicy = defineHubTool({
  name: 'hub_explain_policy',
  title: 'What an agent may do',
  description:
    "Says of an agent's tools, or of one, whether a call would run, ask a person or be refused, and why, by the power of the work that the call is part of. Allowances in force count.",
  input: z.strictObject({
    tool: z.string().min(1).max(200).optional().describe('default: all tools of servers'),
    power: power.default('person'),
    agent: name.optional().describe('default: homelab, else the first'),
    hasReadForeign: z.boolean().default(false).describe('whether the work has read a text from outside'),
  }),
  output: z.object({
    tools: z.array(explainedTool),
  }),
  effect: 'reads',
  right: 'records',
  async run({ agent, ...question }, { deps, principal }) {
    const { name } = await meantAgent({ deps, principal }, agent)
    const tools = deps.explain({ ...question, agent: name })
    if (tools.length === 0 && question.tool !== undefined)
      throw new HubError('not_found', `The agent ${name} has no tool ${question.tool} of a server now`)
    const { store, clock } = deps
    const now = clock.now()
    const answers = tools.map(async ({ mayBeAllowed, ...verdict }): Promise<ExplainedTool> => {
      const call = { agent: name, tool: verdict.tool, power: question.power, reason: verdict.reason, now }
      const until = mayBeAllowed ? await allowedUntil(store.db, call) : undefined
      return until === undefined ? verdict : { ...verdict, kind: 'run', until }
    })
    return { tools: await Promise.all(answers) }
  },
  toText: ({ tools }, { deps }) =>
    tools
      .map(({ tool, toolClass, kind, reason, until }) => {
        const why = until === undefined ? reason : allowedWords(toLocal(until, deps.timezone), reason)
        return toLine(`${tool} (${toolClass}) ${SAID[kind]}: ${why}`)
      })
      .join('\n') || 'No server offers a tool now.',
})

function allowedWords(until: string, reason: string): string {
  return `a person allowed it until ${until}; then it asks again, since ${reason}`
}

export const listAllAllowances = defineHubTool({
  name: 'hub_list_allowances',
  title: 'List allowances',
  description:
    'Tools that run without asking because a person said so beside a yes, each for an agent, one power and a time.',
  input: z.strictObject({}),
  output: z.object({ allowances: z.array(allowance) }),
  effect: 'reads',
  right: 'records',
  run: async (_args, { deps }) => ({
    allowances: (await listAllowances(deps.store.db, deps.clock.now())).map(toAllowance),
  }),
  toText: ({ allowances }) => allowances.map(describeAllowance).join('\n') || 'No allowances.',
})

export const revokeOne = defineHubTool({
  name: 'hub_revoke_allowance',
  title: 'Revoke an allowance',
  description: 'Takes an allowance back: the tool asks again.',
  input: z.strictObject({ id: z.string().min(1) }),
  output: allowance,
  effect: 'removes',
  right: 'admin',
  async run({ id }, { deps, principal }) {
    const revoked = await deps.store.write(tx =>
      revokeAllowance(tx, id, { by: principal.name, now: deps.clock.now() }),
    )
    if (!revoked)
      throw new HubError('not_found', `There is no allowance ${id} in force; hub_list_allowances shows them`)
    return toAllowance(revoked)
  },
  toText: one => `Revoked: ${describeAllowance(one)}`,
})

function toAllowance(row: AllowanceRow): Allowance {
  return allowance.parse(toView(row))
}

function describeAllowance({ id, agent, tool, power, until, createdBy }: Allowance): string {
  return toLine(
    `${id} ${agent}: ${tool} in work of the power ${power}, until ${toIso(until)}, by ${createdBy}`,
  )
}
