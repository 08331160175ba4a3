import { expect, test } from 'vitest'
import type { Power } from '../../schemas/power.ts'
import { ARGUMENTS, callStatuses, OWNER, onlyApproval, stopTool } from '../../tests/support/approvals.ts'
import { openWorld, type World } from '../../tests/support/runtime-world.ts'
import { call, say } from '../../tests/support/scripted-model.ts'
import { event } from '../../tests/support/task-world.ts'
import { addAllowance, listAllowances, revokeAllowance } from '../store/allowances.ts'

const stop = call([['stop', ARGUMENTS]])
const { ran, tool } = stopTool({ destroys: true, repeatable: true })

async function openHouse() {
  ran.splice(0)
  const world = await openWorld({ tools: [tool], agents: [{ events: ['temp_high'] }] })
  await world.start()
  return world
}

const publish = (world: World, id: string, power: Power = 'routine') =>
  world.router.postEvent({ ...event(id), power })
const REASON =
  'it is destructive, and a schedule, an event or another agent began this work; grants in agents/homelab.md does not name it'

test('beside a yes a person lets further calls of the tool run, for that power and that time alone', async () => {
  await using world = await openHouse()
  const tryStop = async (id: string, power: Power) => {
    world.model.script(stop, say('tried'))
    await publish(world, id, power)
    await world.idle()
    return (await callStatuses(world)).at(-1)
  }
  expect(await tryStop('e1', 'routine')).toBe('waiting')
  const { id } = await onlyApproval(world)
  world.model.script(say('I know'))
  await world.approvals.decide({ id, decision: 'approve', always: 3_600_000, ...OWNER })
  await world.seen.messages.find('it ran', ({ text }) => text === 'stopped atm-10')
  await world.idle()
  world.clock.advance(1_000)
  expect(await tryStop('e2', 'routine')).toBe('ok')
  world.clock.advance(1_000)
  expect(await tryStop('e3', 'foreign')).toBe('waiting')
  const [allowance] = await listAllowances(world.store.db, world.clock.now())
  expect(allowance).toMatchObject({ agent: 'homelab', tool: 'stop', power: 'routine', created_by: 'owner' })
  await world.store.write(tx =>
    revokeAllowance(tx, allowance?.id ?? '', { by: 'alex', now: world.clock.now() }),
  )
  world.clock.advance(1_000)
  expect(await tryStop('e4', 'routine')).toBe('waiting')
})

test('a tool that its server made more dangerous asks in spite of an allowance and of grants', async () => {
  ran.splice(0)
  const risen = 'its server changed it'
  const tools = [{ ...tool, facts: { trust: 'third' as const, risen } }]
  await using world = await openWorld({ tools, agents: [{ events: ['temp_high'], grants: ['stop'] }] })
  const now = world.clock.now()
  const row = {
    id: 'alw_1',
    agent: 'homelab',
    tool: 'stop',
    power: 'routine' as const,
    reason: risen,
    until: now + 60_000,
  }
  await world.store.write(tx => addAllowance(tx, { ...row, created_by: 'alex', created_at: now }))
  await world.start()
  world.model.script(stop, say('tried'))
  await publish(world, 'e1')
  await world.idle()
  expect([(await onlyApproval(world)).reason, ran]).toEqual([risen, []])
})

test('an allowance ends with its time', async () => {
  await using world = await openHouse()
  const now = world.clock.now()
  const row = { id: 'alw_1', agent: 'homelab', tool: 'stop', power: 'routine' as const, reason: REASON }
  await world.store.write(tx =>
    addAllowance(tx, { ...row, until: now + 1, created_by: 'alex', created_at: now }),
  )
  world.clock.advance(1)
  world.model.script(stop, say('tried'))
  await publish(world, 'e1')
  await world.idle()
  expect(await callStatuses(world)).toEqual(['waiting'])
})
