import type { Power } from '../../schemas/power.ts'
import type { ToolAccess } from '../core/tool-access.ts'
import type { ToolBox } from '../core/tool-box.ts'
import type { Tx } from '../store/writer.ts'
import { decidePolicy, type PolicyQuestion, type PolicyRules, type Verdict } from './policy.ts'

export interface ExplainDeps {
  rules: () => PolicyRules
  toolBox: Pick<ToolBox<Tx>, 'find' | 'list'>
  agent: (name: string) => ExplainedAgent | undefined
}

/** The part of an agent that decides which tools it sees and may call. */
export type ExplainedAgent = PolicyQuestion['agent'] & { tools: ToolAccess }

/** Calls that an agent could make. */
export interface Explained {
  /** Its name, or an agent that does not exist yet. */
  agent: string | ExplainedAgent
  /** Default all tools of servers that the agent has. */
  tool?: string | undefined
  power: Power
  hasReadForeign: boolean
}

export type PolicyAnswers = ReturnType<typeof createAnswers>

/** Creates functions that say what the policy answers. */
export function createAnswers({ rules, toolBox, agent }: ExplainDeps) {
  return {
    /** Says what it answers to an agent's calls, and why. Leaves out tools that the agent has not. */
    explain({ agent: asked, tool, ...question }: Explained): (Verdict & { tool: string })[] {
      const asking = typeof asked === 'string' ? agent(asked) : asked
      if (!asking) return []
      const names = tool === undefined ? toolBox.list(asking.tools, true).map(each => each.name) : [tool]
      return names.flatMap(each => {
        const found = toolBox.find(each, asking.tools)
        if (found?.kind !== 'server' || found.facts.name !== each) return []
        return [{ tool: each, ...decidePolicy(rules(), { ...question, tool: found.facts, agent: asking }) }]
      })
    },
  }
}
