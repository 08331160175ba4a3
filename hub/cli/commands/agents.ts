import type { Command } from 'commander'
import { toIso } from '../../core/clock.ts'
import { plural, toLine } from '../../core/text.ts'
import { type AgentView, agentList } from '../../mcp/hub-tools/agents.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'

export function define(command: Command): void {
  command.option('--json', 'as JSON').action(async ({ json }: { json?: boolean }) => {
    const { structured } = await callHub(findHub(), 'hub_list_agents', {})
    if (json) return printJson(structured)
    print(agentList.parse(structured).agents.map(describe).join('\n') || 'No agents: write agents/<name>.md')
  })
}

function describe(one: AgentView): string {
  const figures = [
    plural(one.threads, 'thread'),
    `${plural(one.pending, 'inbox item')} waiting`,
    plural(one.cycles, 'cycle'),
    one.lastCycleAt === null ? 'never ran' : `last ran ${toIso(one.lastCycleAt)}`,
    `${one.tokensToday} tokens today`,
    `${one.windowTokens} tokens in the window`,
  ]
  return `${one.name} (${one.status}): ${toLine(one.description)}\n  ${figures.join(', ')}`
}
