import { expect, test } from 'vitest'
import type { InboxPayload } from '../../schemas/inbox.ts'
import { ARGUMENTS, callStatuses, OWNER, onlyApproval, stopTool } from '../../tests/support/approvals.ts'
import { openWorld, type World, type WorldAgent } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'
import { event } from '../../tests/support/task-world.ts'
import { isOfPeople } from './request-approval.ts'

const stop = call([['stop', ARGUMENTS]])
/** A destructive tool that may be repeated, as a game server's stop is. */
const { ran, tool } = stopTool({ destroys: true, repeatable: true })

async function openHouse(agent: Partial<WorldAgent> = {}) {
  ran.splice(0)
  const look = { name: 'look', reads: true, run: () => ({ text: 'seen', isError: false }) }
  const world = await openWorld({ tools: [tool, look], agents: [{ events: ['temp_high'], ...agent }] })
  await world.start()
  return world
}

const publish = (world: World, id: string) => world.router.postEvent(event(id))
const REASON =
  "it is destructive, and not only people's messages led to it (grants in agents/homelab.md does not name it)"

test('a destructive tool asks in a cycle that an event began, and a yes runs it', async () => {
  await using world = await openHouse()
  world.model.script(stop, say('I asked'), say('I know'))
  await publish(world, 'e1')
  await world.idle()
  const approval = await onlyApproval(world)
  expect([ran, approval.reason, approval.conversation_id]).toEqual([[], REASON, 'homelab'])
  await world.approvals.decide({ id: approval.id, decision: 'approve', ...OWNER })
  await world.seen.messages.find('it ran', ({ text }) => text === 'stopped atm-10')
  await world.idle()
  expect(ran).toEqual([ARGUMENTS])
})

test("it runs in a cycle of a person's message", async () => {
  await using world = await openHouse()
  world.model.script(stop, say('done'))
  await world.post('stop it')
  await world.idle()
  expect([ran, await callStatuses(world)]).toEqual([[ARGUMENTS], ['ok']])
})

test.for<[grants: string[], approve: string[], status: string]>([
  [['stop'], [], 'ok'],
  [['other', 'stop'], [], 'ok'],
  [['st*'], [], 'waiting'],
  [['*'], [], 'waiting'],
  [['stop'], ['stop'], 'waiting'],
])('grants %j and approve %j: the call that an event led to is %s', async ([grants, approve, status]) => {
  await using world = await openHouse({ grants, approve })
  world.model.script(stop, say('done'))
  await publish(world, 'e1')
  await world.idle()
  expect(await callStatuses(world)).toEqual([status])
})

test("a wake-up and a task that a person's message led to ask too", async () => {
  await using world = await openHouse()
  const later = call([
    ['create_task', { instructions: 'Stop it.' }],
    ['schedule_wake', { delay: '10m', reason: 'stop it then' }],
  ])
  world.model.script(later, stop, say('I asked'), stop, say('I asked'))
  await world.post('stop it now and in ten minutes')
  await world.idle()
  world.clock.advance(600_000)
  await world.router.fireDue()
  await world.idle()
  expect([ran, (await callStatuses(world)).sort()]).toEqual([[], ['ok', 'ok', 'waiting', 'waiting']])
})

test('an event that comes while a cycle of a person runs makes it ask from then on', async () => {
  await using world = await openHouse()
  const held = hold(call([['look']]))
  world.model.script(held.turn, stop, say('I asked'))
  await world.post('look around')
  await held.begun
  await publish(world, 'e1')
  held.release()
  await world.idle()
  expect([ran, await callStatuses(world)]).toEqual([[], ['ok', 'waiting']])
})

test("a person's message that joins the cycle of an event gives it no right", async () => {
  await using world = await openHouse()
  const held = hold(call([['look']]))
  world.model.script(held.turn, stop, say('I asked'))
  await publish(world, 'e1')
  await held.begun
  await world.post('what is it?')
  held.release()
  await world.idle()
  expect([ran, await callStatuses(world)]).toEqual([[], ['ok', 'waiting']])
})

test('after a kill the rest of the cycle asks as before', async () => {
  await using world = await openHouse()
  const held = hold(stop)
  world.model.script(held.turn)
  await publish(world, 'e1')
  await held.begun
  world.kill()
  held.release()
  world.model.script(stop, say('I asked'))
  await world.start()
  await world.idle()
  expect([ran, await callStatuses(world)]).toEqual([[], ['waiting']])
})

test.for<[InboxPayload['kind'][], boolean]>([
  [['message'], true],
  [['message', 'message', 'approval', 'notice', 'reset'], true],
  [[], false],
  [['approval'], false],
  [['notice', 'reset'], false],
  [['message', 'event'], false],
  [['message', 'wake'], false],
  [['message', 'agent'], false],
  [['message', 'task'], false],
])('%j: led by people alone is %s', ([kinds, expected]) => {
  expect(isOfPeople(kinds.map(kind => ({ payload: { kind } })))).toBe(expected)
})
