import type { StubTool, World } from './runtime-world.ts'
import { until } from './until.ts'

/** The arguments of the model's call in these tests. */
export const ARGUMENTS = { server: 'atm-10', force: true }

/** The person who decides in these tests. */
export const OWNER = { by: 'owner', where: '/ws' }

/** Creates a tool that records its calls' arguments. */
export function stopTool(options: Partial<StubTool> = {}) {
  const ran: Record<string, unknown>[] = []
  const run = (args: Record<string, unknown>) => {
    ran.push(args)
    return { text: `stopped ${args['server']}`, isError: false }
  }
  return { ran, tool: { name: 'stop', run, ...options } satisfies StubTool }
}

/** Returns the approval of a world that has exactly one. */
export async function onlyApproval(world: World) {
  const rows = await world.store.db.selectFrom('approvals').selectAll().execute()
  const [row] = rows
  if (!row || rows.length > 1) throw new Error(`There are ${rows.length} approvals`)
  return row
}

/** Returns the calls' statuses in the order of their requests; cycles of one instant count as one. */
export async function callStatuses(world: World) {
  const rows = await world.store.db
    .selectFrom('tool_calls')
    .select('status')
    .orderBy('created_at')
    .orderBy('step')
    .orderBy('position')
    .execute()
  return rows.map(row => row.status)
}

/** Returns the inbox items about approvals. */
export async function inboxAnswers(world: World) {
  const rows = await world.store.db
    .selectFrom('inbox')
    .selectAll()
    .where('source', '=', 'approval')
    .orderBy('seq')
    .execute()
  return rows.map(row => ({ ...JSON.parse(row.payload_json), conversation: row.conversation_id }))
}

/** Resolves once the agent has said this, and nothing runs any more. */
export async function untilSaid(world: World, text: string) {
  const find = () =>
    world.store.db.selectFrom('messages').select('id').where('text', '=', text).executeTakeFirst()
  await until(`the agent says "${text}"`, find)
  await world.idle()
}
