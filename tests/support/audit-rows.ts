import { expect } from 'vitest'
import type { AuditKind, AuditRow } from '../../schemas/audit.ts'
import type { TestClient } from './clients.ts'
import { until } from './until.ts'

/** Arguments of `hub_list_audit`. */
export interface AuditQuestion {
  kinds?: AuditKind[]
  actor?: string
  tool?: string
}

/** Returns rows of the audit, the oldest first. */
export async function listRows(client: TestClient, question: AuditQuestion): Promise<AuditRow[]> {
  const { structuredContent } = await client.call('hub_list_audit', { limit: 1000, ...question })
  return (structuredContent as { rows: AuditRow[] }).rows.reverse()
}

/** Resolves once everything that happened before has its row. */
export async function untilRecorded(client: TestClient): Promise<void> {
  const count = async () => (await listRows(client, { tool: 'hub_status' })).length
  const before = await count()
  await client.call('hub_status', {})
  await until('a later row is there', async () => (await count()) > before)
}

/** Resolves with the rows once there are as many; what comes later would be one too many. */
export async function untilRows(
  client: TestClient,
  count: number,
  question: AuditQuestion,
): Promise<AuditRow[]> {
  await until(`${count} rows`, async () => (await listRows(client, question)).length >= count)
  await untilRecorded(client)
  const rows = await listRows(client, question)
  expect(rows).toHaveLength(count)
  return rows
}
