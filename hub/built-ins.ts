import { codeFile } from './config/paths.ts'
import type { BuiltIn } from './tools/decide-servers.ts'

/** The servers that come with the hub, in the order of precedence for tool names. */
export const builtIns: readonly BuiltIn[] = [
  { name: 'metrics', file: codeFile('servers/metrics/server.ts'), always: true, envPrefix: 'METRICS_' },
]
