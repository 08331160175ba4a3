import { toIso } from '../core/clock.ts'
import { plural, toLine } from '../core/text.ts'
import { describeName, type HubStatus } from '../mcp/hub-tools/status.ts'

/** Describes a server and its state in lines for a person. */
export function describeServer(server: HubStatus['servers'][number]): string {
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
