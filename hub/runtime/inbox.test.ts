import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistoryContent, InboxPayload } from '../../schemas/inbox.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { say } from '../../tests/support/scripted-model.ts'

/** A message of a client or an event of a server, which is delivered until it is accepted. */
interface Delivery {
  kind: 'message' | 'event'
  id: number
}

function deliver(world: World, { kind, id }: Delivery): Promise<unknown> {
  if (kind === 'message') return world.post(`message ${id}`, 'homelab', String(id))
  return world.router.postEvent({
    source: 'games',
    externalId: String(id),
    type: 'player_joined',
    payload: { name: `event ${id}` },
    at: 0,
  })
}

/** Returns everything that the inbox ever had, in the order in which it came. */
async function accepted({ store }: World): Promise<string[]> {
  const rows = await store.db.selectFrom('inbox').select('payload_json').orderBy('seq').execute()
  return rows.map(row => {
    const payload = JSON.parse(row.payload_json) as InboxPayload
    if (payload.kind === 'message') return payload.text
    return payload.kind === 'event' ? String(payload.event.payload['name']) : payload.kind
  })
}

/** Returns the items of the batches and updates of the history, in order. */
async function inHistory({ store }: World): Promise<string[]> {
  const rows = await store.db.selectFrom('history').select('content_json').orderBy('seq').execute()
  return rows.flatMap(row => {
    const content = JSON.parse(row.content_json) as HistoryContent
    const items = content.role === 'user' ? content.items : []
    return items.flatMap(item => /(?:message|event) \d+/.exec(item.text)?.[0] ?? [])
  })
}

test('promises 1 and 2: what is delivered stands in the history once and in order, whenever the hub dies', async () => {
  const delivery = fc.record({ kind: fc.constantFrom('message' as const, 'event' as const), id: fc.nat(9) })
  const life = fc.record({
    deliveries: fc.array(delivery, { minLength: 1, maxLength: 6 }),
    deathAt: fc.double({ min: 0, max: 1, noNaN: true }),
    when: fc.constantFrom('before' as const, 'after' as const),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async lives => {
      await using world = await openWorld({ agents: [{ events: ['player_joined'] }] })
      world.model.script(...Array.from({ length: 100 }, () => say('ok')))
      const all: Delivery[] = []
      for (const [number, { deliveries, deathAt, when }] of lives.entries()) {
        // The run writes each delivery and, as some are new, the claim and the cycle's end: it always dies.
        const write = 1 + Math.round(deathAt * (deliveries.length + 1))
        const mine = deliveries.map(({ kind, id }) => ({ kind, id: number * 100 + id }))
        await world.start({ write, when })
        for (const each of mine) void deliver(world, each)
        await world.died
        all.push(...mine)
      }
      await world.start()
      await Promise.all(all.map(each => deliver(world, each)))
      await world.idle()
      const names = all.map(({ kind, id }) => `${kind} ${id}`)
      const came = await accepted(world)
      expect([...came].sort()).toEqual([...new Set(names)].sort())
      const seen = await inHistory(world)
      expect([...seen].sort()).toEqual([...came].sort())
      // People's messages come first.
      for (const kind of ['message', 'event'])
        expect(seen.filter(name => name.startsWith(kind))).toEqual(came.filter(name => name.startsWith(kind)))
      const left = await world.store.db.selectFrom('events').select('status').execute()
      expect(left.every(({ status }) => status === 'handled')).toBe(true)
    }),
    { numRuns: 25 },
  )
})
