import type { Clock } from '../../kit/clock.ts'
import type { NamedClient } from '../clients/clients.ts'
import type { TimedPauses } from '../timed-pauses.ts'

/** What the tools of this server work with. */
export interface ToolDeps {
  readonly clients: readonly NamedClient[]
  readonly pauses: TimedPauses
  readonly clock: Clock
}

/** A change that can be taken back. */
export const REVERSIBLE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
