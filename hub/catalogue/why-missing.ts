import type { Connection } from '../upstream/connection.ts'
import { describeDown } from '../upstream/connection-state.ts'
import type { DesiredServers } from '../upstream/decide-servers.ts'
import { toToolName } from './names.ts'

interface Absent {
  prefixes: readonly string[]
  why: string
}

/**
 * Returns why a tool is missing whose name fits a server that is not ready; undefined if no such server is
 * known.
 */
export function whyMissing(
  tool: string,
  connections: readonly Pick<Connection, 'spec' | 'status'>[],
  { disabled, losers }: Pick<DesiredServers, 'disabled' | 'losers'>,
): string | undefined {
  const absent: Absent[] = [
    ...connections
      .filter(({ status }) => status.state === 'starting' || status.state === 'down')
      .map(({ spec, status }) => ({
        prefixes: [spec.prefix, `${spec.name}__`],
        why: describeDown(spec.name, status),
      })),
    ...disabled.map(({ name, prefix }) => ({
      prefixes: [prefix, `${name}__`],
      why: `The server ${name} is disabled`,
    })),
    ...losers
      .filter(({ replaced }) => !replaced)
      .map(({ name, reason }) => ({
        prefixes: [`${name}__`],
        why: `The server ${name} does not run: ${reason}`,
      })),
  ]
  const fits = ({ prefixes }: Absent) =>
    Math.max(0, ...prefixes.filter(prefix => startsWith(tool, prefix)).map(({ length }) => length))
  const best = absent.toSorted((a, b) => fits(b) - fits(a))[0]
  return best && fits(best) > 0 ? `There is no tool ${tool} now. ${best.why}` : undefined
}

function startsWith(tool: string, prefix: string): boolean {
  return prefix !== '' && tool.startsWith(toToolName(prefix, prefix.length))
}
