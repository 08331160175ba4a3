import type { InboxPayload } from '../../schemas/inbox.ts'
import { openWorld, type World, type WorldOptions } from './runtime-world.ts'
import { call, type Turn } from './scripted-model.ts'

export const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
export const threadsOf = (world: World) =>
  world.store.db
    .selectFrom('threads')
    .selectAll()
    .where('kind', '=', 'task')
    .orderBy('depth')
    .orderBy('id')
    .execute()
/** Returns the newest message to the model in each request. */
export const textsOf = (world: World) =>
  world.model.requests.all.map(({ messages }) => messages.findLast(m => m.role === 'user')?.text)
export const inboxOf = async ({ store }: World, source: string) => {
  const rows = await store.db
    .selectFrom('inbox')
    .selectAll()
    .where('source', '=', source)
    .orderBy('seq')
    .execute()
  return rows.map(row => JSON.parse(row.payload_json) as InboxPayload)
}
export const event = (externalId: string, type = 'temp_high') => ({
  source: 'metrics',
  externalId,
  key: externalId,
  type,
  payload: { temp: 91 },
  at: 1,
  power: 'routine' as const,
})

/** Opens a main thread that creates one task; `turns` are played after it. */
export async function openWithTask(turns: readonly Turn[], options: WorldOptions = {}) {
  const world = await openWorld({ tools: [look], ...options })
  world.model.script(call([['create_task', { instructions: 'Check the disks.' }]]), ...turns)
  await world.start()
  return world
}
