import type { Clock } from '../../kit/clock.ts'
import type { State } from '../state.ts'
import type { NamedClient } from '../upstreams/clients.ts'

/** The dependencies of this server's tools. */
export interface ToolDeps {
  readonly clients: readonly NamedClient[]
  readonly state: State
  readonly clock: Clock
}

/** Annotations of a change that can be reversed. */
export const REVERSIBLE = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
