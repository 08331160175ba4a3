import { z } from 'zod'
import { power } from './power.ts'

/** What a row of the audit tells of. */
export const auditKinds = [
  /** A tool call of an agent or a client at its end; before one of a client that destroys or sends there is another row. */
  'call',
  /** A call of a client that only reads, at its end. */
  'read',
  'approval',
  /** What a person stopped or started fresh over chat; hub_stop and hub_reset are calls. */
  'stop',
  'reset',
  /** A message or a subscription over chat that was refused. */
  'chat',
  'allowance',
  'pin',
  'config',
  'sign_in',
  'token',
  /** A login of the hub at one of its servers. */
  'login',
  'webhook',
  'event',
  'start',
  /** Rows that were removed for their age. */
  'retention',
] as const
export type AuditKind = (typeof auditKinds)[number]

/** A row of the audit as people and programs read it. */
export const auditRow = z.object({
  seq: z.int().describe('from 1, without gaps'),
  at: z.number().describe('unix milliseconds'),
  kind: z.enum(auditKinds),
  actor: z.string().describe('name of the token, agent:<name>, hook:<name>, or hub for the hub itself'),
  role: z.string().optional().describe("the token's role"),
  door: z.string().optional().describe('where it came in'),
  power: power.optional(),
  tool: z.string().optional(),
  outcome: z.string().describe('started, ok, error, unknown, denied, approved, changed and the like'),
  call: z.string().optional().describe('id of the tool call; its rows have the same'),
  arguments: z.string().optional().describe('their beginning, without secrets'),
  details: z.record(z.string(), z.unknown()),
  hash: z.string().describe('SHA-256 of the hash of the row before and of this row'),
})
export type AuditRow = z.infer<typeof auditRow>

/** How far the audit's chain holds; the hash of its last row, noted elsewhere, proves it later. */
export const auditVerdict = z.object({
  first: z.int().describe('first row that was not removed for its age'),
  last: z.int().describe('row up to which the chain holds'),
  hash: z.string().describe('hash of that row'),
  broken: z.object({ seq: z.int(), why: z.string() }).optional().describe('the first row that is wrong'),
})
export type AuditVerdict = z.infer<typeof auditVerdict>

/** Says for people how far the chain holds. */
export function describeVerdict({ first, last, hash, broken }: AuditVerdict): string {
  const holds =
    last < first
      ? 'The audit has no rows that hold'
      : `The audit holds from row ${first} to ${last}, whose hash is ${hash}`
  return broken ? `${holds}. Row ${broken.seq}: ${broken.why}.` : `${holds}.`
}
