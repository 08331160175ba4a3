import { describeApproval } from '../../mcp/hub-tools/approvals.ts'
import { callHub } from '../call-hub.ts'
import type { WrittenDecision } from '../decision.ts'
import { findHub } from '../find-hub.ts'
import { print } from '../print.ts'
import { sendDecision } from '../send-decision.ts'

/** Prints what waits for a person's yes; with `all`, what was decided too. */
export async function listApprovals(options: { all?: boolean }): Promise<void> {
  const { text } = await callHub(findHub(), 'hub_list_approvals', options.all ? {} : { status: 'open' })
  print(text === 'No approvals.' && !options.all ? 'Nothing waits for your yes.' : text)
}

/** Answers an approval and prints what became of it. */
export async function decideApproval(decision: WrittenDecision): Promise<void> {
  print(describeApproval(await sendDecision(findHub(), decision)))
}
