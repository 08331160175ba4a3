import { describeStatus, hubStatus } from '../../mcp/hub-tools/status.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printError } from '../print.ts'

export async function status(options: { json?: boolean; release?: boolean }): Promise<void> {
  const hub = findHub()
  if (options.release) printError((await callHub(hub, 'hub_release_agents', {})).text)
  const { structured } = await callHub(hub, 'hub_status', {})
  const agents = await callHub(hub, 'hub_list_agents', {})
  if (options.json) {
    print(JSON.stringify({ ...hubStatus.parse(structured), ...(agents.structured as object) }, undefined, 2))
    return
  }
  print(`${hub.url}\n${describeStatus(hubStatus.parse(structured))}\nAgents:\n${indent(agents.text)}`)
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
