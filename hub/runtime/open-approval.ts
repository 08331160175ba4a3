import { createApproval } from '../store/approvals.ts'
import { addNotification } from '../store/notifications.ts'
import type { ApprovalRow } from '../store/tables.ts'
import type { Tx } from '../store/writer.ts'
import type { RuntimeDeps } from './deps.ts'

/** Opens an approval, and with it the notification of it, where people want one. */
export async function openApproval(
  { notifies }: Pick<RuntimeDeps, 'notifies'>,
  tx: Tx,
  row: Parameters<typeof createApproval>[1],
): Promise<ApprovalRow> {
  const approval = await createApproval(tx, row)
  if (notifies('approvals')) await addNotification(tx, approval.id, 'approvals', approval.created_at)
  return approval
}
