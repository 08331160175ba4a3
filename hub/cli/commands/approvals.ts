import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { callHub } from '../call-hub.ts'
import type { WrittenDecision } from '../decision.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'
import { sendDecision } from '../send-decision.ts'

/** Prints the open approvals; with `all`, the decided ones too. */
export async function listApprovals(options: { all?: boolean }): Promise<void> {
  const { text } = await callHub(findHub(), 'hub_list_approvals', options.all ? {} : { status: 'open' })
  print(text === 'No approvals.' && !options.all ? 'Nothing waits for your yes.' : text)
}

/** Decides an approval and prints the outcome. */
export async function decideApproval(decision: WrittenDecision): Promise<void> {
  print(describeApproval(await sendDecision(findHub(), decision)))
}
