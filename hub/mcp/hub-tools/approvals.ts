import { z } from 'zod'
import { type Approval, approvalStatuses } from '../../../schemas/chat.ts'
import { power } from '../../../schemas/power.ts'
import { toIso } from '../../core/clock.ts'
import { may } from '../../core/principal.ts'
import { escapeUnseen, toLine } from '../../core/text.ts'
import { listApprovals, readAsked, toApproval } from '../../store/approvals.ts'
import { defineHubTool } from './hub-tool.ts'

const MOST = 500

const approval = z.object({
  id: z.string(),
  number: z.int().describe('names it in short: superbloom approvals approve 3'),
  agent: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).describe('exactly what runs once it is approved'),
  reason: z.string().describe("why it needs a person's yes"),
  expiresAt: z.number().describe('unix milliseconds'),
  status: z.enum(approvalStatuses),
  power: power.describe('of the work that the call is part of'),
  question: z
    .boolean()
    .optional()
    .describe('a server asks in the midst of a call: arguments say what for, the note is the answer'),
  conversation: z.string().optional(),
  askedBy: z
    .array(z.string())
    .optional()
    .describe('whose messages led to an open one: a member answers only their own'),
  decidedBy: z.string().optional(),
  decidedWhere: z.string().optional(),
  decidedAt: z.number().optional().describe('unix milliseconds'),
  note: z.string().optional(),
})

export const listAllApprovals = defineHubTool({
  name: 'hub_list_approvals',
  title: 'List approvals',
  description:
    "Calls of agents that need a person's yes, the newest first, and what was decided. A person decides on the page or in the terminal; no tool can.",
  input: z.strictObject({ status: z.enum(approvalStatuses).optional().describe('default: all') }),
  output: z.object({ approvals: z.array(approval) }),
  effect: 'reads',
  right: 'chat',
  async run({ status }, { deps, principal }) {
    const { db } = deps.store
    const rows = await listApprovals(db, { status, limit: MOST })
    const isSeen = ({ conversation_id }: { conversation_id: string | null }) =>
      may(principal, 'records') || (conversation_id !== null && deps.mayUse(principal, conversation_id))
    const shown = rows
      .filter(isSeen)
      .map(row => (row.status === 'open' ? readAsked(db, row) : toApproval(row)))
    return { approvals: await Promise.all(shown) }
  },
  toText: ({ approvals }) => approvals.map(describeApproval).join('\n') || 'No approvals.',
})

/** Describes one approval for a person, with the exact call: nothing in it is hidden. */
export function describeApproval(one: Approval | z.input<typeof approval>): string {
  const call = escapeUnseen(
    `${one.number}. ${one.id} ${one.agent}: ${one.tool} ${JSON.stringify(one.arguments)}`,
  )
  const by = one.decidedBy === undefined ? '' : ` by ${one.decidedBy} over ${one.decidedWhere}`
  const when = one.decidedAt === undefined ? '' : ` at ${toIso(one.decidedAt)}`
  const state =
    one.status === 'open'
      ? `open until ${toIso(one.expiresAt)}: ${toLine(escapeUnseen(one.reason))}`
      : `${one.status}${by}${when}`
  return `${call}\n  ${state}${one.note ? `\n  Note: ${toLine(one.note)}` : ''}`
}
