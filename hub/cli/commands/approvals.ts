import { callHub } from '../call-hub.ts'
import { findHub } from '../find-hub.ts'

/** Prints what waits for a person's yes; with `all`, what was decided too. */
export async function listApprovals(options: { all?: boolean }): Promise<void> {
  const { text } = await callHub(findHub(), 'hub_list_approvals', options.all ? {} : { status: 'open' })
  console.log(text === 'No approvals.' && !options.all ? 'Nothing waits for your yes.' : text)
}

/** Answers an approval and prints what became of it. */
export async function decideApproval(
  id: string,
  decision: 'approve' | 'deny',
  note: string | undefined,
): Promise<void> {
  const args = { id, decision, ...(note === undefined ? {} : { note }) }
  const { text } = await callHub(findHub(), 'hub_decide_approval', args)
  console.log(text)
}
