import { ToolFailure } from '../failure.ts'

/** The reason why a request to an upstream failed. */
export type FailureKind =
  | 'unreachable'
  | 'timeout'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'rate_limited'
  | 'refused'
  | 'server_error'
  | 'not_json'
  | 'redirect'
  | 'too_large'
  | 'unexpected'

export interface FailureFacts {
  kind: FailureKind
  what: string
  /** The request, "GET http://nas:7878/api/v3/movie": without user info, query and secrets. */
  where: string
  why: string
  fix: string
  /** HTTP status, if there was an answer. */
  status?: number | undefined
  /** True if the same request may well work later. */
  transient?: boolean | undefined
  /** True if nothing of the request can have arrived: the name is unknown, or nobody listens. */
  unsent?: boolean | undefined
  /** Milliseconds that the upstream asked to wait. */
  retryAfter?: number | undefined
}

/** A failure of an upstream. Its words contain no secrets: they were redacted before. */
export class UpstreamFailure extends ToolFailure {
  readonly kind: FailureKind
  readonly status: number | undefined
  readonly transient: boolean
  readonly unsent: boolean
  readonly retryAfter: number | undefined

  constructor(facts: FailureFacts, options?: ErrorOptions) {
    const { what, where, why, fix } = facts
    super({ what, where, why, fix }, options)
    this.name = 'UpstreamFailure'
    this.kind = facts.kind
    this.status = facts.status
    this.transient = facts.transient ?? false
    this.unsent = facts.unsent ?? false
    this.retryAfter = facts.retryAfter
  }
}
