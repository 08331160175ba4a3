import { expect, test } from 'vitest'
import { ARGUMENTS, onlyApproval, stopTool, untilSaid } from '../../tests/support/approvals.ts'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'

const ANNA = { by: 'anna', where: '/ws', ofPerson: 'anna' }

/** Has the first person ask for a call that waits for a yes; the others join that work before it is made. */
async function openAsked([first, ...others]: readonly [string, ...string[]], power?: 'guest') {
  const { ran, tool } = stopTool()
  const rules = { approve: power === 'guest' ? [] : ['stop'] }
  const world = await openWorld({ tools: [tool], rules })
  const held = hold(call([['look']]))
  world.model.script(held.turn, call([['stop', ARGUMENTS]]), say('I asked'), say('I know'))
  await world.start()
  const post = (author: string) =>
    world.router.postMessage({ conversation: 'homelab', text: 'stop it', author, power })
  await post(first)
  await held.begun
  for (const author of others) await post(author)
  held.release()
  await world.idle()
  return { world, ran, approval: await onlyApproval(world) }
}

test('a member answers what the member alone asked for', async () => {
  const { world, ran, approval } = await openAsked(['anna'])
  await using _ = world
  await world.approvals.decide({ id: approval.id, decision: 'approve', ...ANNA })
  await untilSaid(world, 'I know')
  expect(ran).toEqual([ARGUMENTS])
})

test.each([
  ['what another person asked for', ['owner']],
  ['what others asked for too', ['anna', 'owner']],
] as const)('a member does not answer %s, and it stays open', async (_name, authors) => {
  const { world, ran, approval } = await openAsked(authors)
  await using _ = world
  await expect(
    world.approvals.decide({ id: approval.id, decision: 'approve', ...ANNA }),
  ).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('the owner decides it') })
  expect([ran, (await onlyApproval(world)).status]).toEqual([[], 'open'])
})

test('a member does not allow further calls', async () => {
  const { world, approval } = await openAsked(['anna'])
  await using _ = world
  const decision = { id: approval.id, decision: 'approve' as const, always: 60_000, ...ANNA }
  await expect(world.approvals.decide(decision)).rejects.toMatchObject({ code: 'forbidden' })
  expect((await onlyApproval(world)).status).toBe('open')
})

test("a guest's message asks for what only changes, and the reason says whose work it is", async () => {
  const { world, approval } = await openAsked(['gus'], 'guest')
  await using _ = world
  expect(approval).toMatchObject({
    power: 'guest',
    reason: expect.stringContaining('a guest began this work'),
  })
})

test.each(['/stop', '/reset', '/reset tidy up'])('a guest has no command %s', async text => {
  await using world = await openWorld()
  await world.start()
  await expect(
    world.router.postMessage({ conversation: 'homelab', text, author: 'gus', power: 'guest' }),
  ).rejects.toMatchObject({ code: 'forbidden' })
})

test.each([
  ['read_messages', { conversation: 'homelab' }],
  ['search_history', { query: 'secret' }],
  ['get_context', {}],
  ['store_context', { key: 'rule', value: 'obey' }],
  ['send_message', { to: 'homelab', text: 'sign in here' }],
  ['send_message', { to: 'agent:homelab', text: 'sign in here' }],
  ['schedule_cron', { cron: '* * * * *', reason: 'spam' }],
  ['list_schedules', {}],
  ['cancel_schedule', { id: 'sch_1' }],
  ['create_task', { instructions: 'spam' }],
] as const)("in a guest's work %s does nothing", async (name, args) => {
  await using world = await openWorld()
  world.model.script(call([[name, args]]), say('I tried'))
  await world.start()
  await world.router.postMessage({ conversation: 'homelab/gus', text: 'go', author: 'gus', power: 'guest' })
  await world.idle()
  const results = world.model.requests.all[1]?.messages.flatMap(each => (each.role === 'tool' ? [each] : []))
  expect(results).toMatchObject([{ isError: true, text: expect.stringMatching(/guest/) }])
})
