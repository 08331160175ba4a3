/** What a row of the audit tells of. */
export const auditKinds = [
  /** A tool call of an agent at its end, or of a client: one row as it starts and one as it ends. */
  'call',
  /** A call of a client that only reads, at its end. */
  'read',
  'approval',
  'allowance',
  'pin',
  'config',
  'sign_in',
  'token',
  'webhook',
  'event',
  'start',
] as const
export type AuditKind = (typeof auditKinds)[number]
