import type { Command } from 'commander'
import { describeStatus, hubStatus } from '../../mcp/hub-tools/status.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printError, printJson } from '../print.ts'

export function define(command: Command): void {
  command
    .option('--json', 'as JSON')
    .option('--release', 'first let the agents go that are held after a crash loop')
    .action(printStatus)
}

async function printStatus({ json, release }: { json?: boolean; release?: boolean }): Promise<void> {
  const hub = findHub()
  if (release) printError((await callHub(hub, 'hub_release_agents', {})).text)
  const state = hubStatus.parse((await callHub(hub, 'hub_status', {})).structured)
  const agents = await callHub(hub, 'hub_list_agents', {})
  if (json) return printJson({ ...state, ...(agents.structured as object) })
  print(`${hub.url}\n${describeStatus(state)}\nAgents:\n${agents.text.replace(/^/gm, '  ')}`)
}
