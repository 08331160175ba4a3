import { HubError } from '../core/errors.ts'

/** Why a database does nothing that it is asked. */
export type FaultKind = 'full' | 'locked' | 'damaged' | 'unreachable'

/** The database failed, whatever it was asked: a write that meets it is not done, and may be done later. */
export class StoreFault extends HubError {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
    this.name = 'StoreFault'
    this.kind = kind
  }
}
