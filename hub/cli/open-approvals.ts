import type { Approval } from '../../schemas/chat.ts'
import { callHub } from './call-hub.ts'
import type { RunningHub } from './find-hub.ts'

/** Returns the approvals of a conversation that wait for a person. */
export async function readOpenApprovals(hub: RunningHub, conversation: string): Promise<Approval[]> {
  const { structured } = await callHub(hub, 'hub_list_approvals', { status: 'open' })
  const { approvals } = structured as { approvals: Approval[] }
  return approvals.filter(approval => approval.conversation === conversation)
}
