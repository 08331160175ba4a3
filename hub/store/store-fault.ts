import { HubError } from '../core/errors.ts'

/** The reason why a database does nothing that it is asked. */
export type FaultKind = 'full' | 'locked' | 'damaged' | 'unreachable'

/** A failure of the database, whatever it was asked: the write is not done, and may be done later. */
export class StoreFault extends HubError {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super('unavailable', message, options)
    this.name = 'StoreFault'
    this.kind = kind
  }
}
