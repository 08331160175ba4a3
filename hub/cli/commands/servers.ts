import { toIso } from '../../core/clock.ts'
import { plural, toLine } from '../../core/text.ts'
import { describeName, type HubStatus, hubStatus } from '../../mcp/hub-tools/status.ts'
import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'
import { print, printJson } from '../print.ts'

type Server = HubStatus['servers'][number]

/** Prints every server with its origin, its health and its number of tools. */
export async function listServers(options: { json?: boolean }): Promise<void> {
  const { structured } = await callHub(findHub(), 'hub_status', {})
  const all = hubStatus.parse(structured).servers
  if (options.json) printJson({ servers: all })
  else print(all.map(describeServer).join('\n') || 'No servers.')
}

/** Describes a server and its state in lines for a person. */
export function describeServer(server: Server): string {
  const {
    name,
    state,
    origin,
    transport,
    era,
    tools,
    error,
    nextTryAt,
    collisions = [],
    leftOut = [],
  } = server
  const from = [origin, transport, era].filter(Boolean).join(', ')
  const lines = [
    ...(error ? [`  ${toLine(error)}`] : []),
    ...(nextTryAt === undefined ? [] : [`  tried again at ${toIso(nextTryAt)}`]),
    ...(collisions.length > 0 ? [`  names that others have: ${toLine(collisions.join(', '))}`] : []),
    ...leftOut.map(entry => `  left out: ${toLine(entry)}`),
  ]
  return [
    `${name}${toLine(describeName(server))}: ${state}, ${plural(tools, 'tool')} (${from})`,
    ...lines,
  ].join('\n')
}
