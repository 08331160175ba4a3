import type { Clock } from '../../kit/clock.ts'
import type { NamedClient } from '../upstreams/clients.ts'
import type { TimedPauses } from '../watchers/timed-pauses.ts'

/** The dependencies of this server's tools. */
export interface ToolDeps {
  readonly clients: readonly NamedClient[]
  readonly pauses: TimedPauses
  readonly clock: Clock
}

/** Annotations of a change that can be reversed. */
export const REVERSIBLE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
