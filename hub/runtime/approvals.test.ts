import { expect, test } from 'vitest'
import {
  ARGUMENTS,
  callStatuses,
  inboxAnswers,
  OWNER,
  onlyApproval,
  stopTool,
  untilSaid,
} from '../../tests/support/approvals.ts'
import { openWorld, type StubTool } from '../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../tests/support/scripted-model.ts'
import type { ModelReply } from '../core/model.ts'
import { nextExpiry } from '../store/approvals.ts'
import { APPROVAL_MS } from './request-approval.ts'

const answers = [call([['stop', ARGUMENTS]]), say('I asked'), say('I know')]

test('a call that needs a yes waits, the agent goes on, and the yes runs exactly that call once', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it', 'homelab/desk')
  await world.idle()
  const approval = await onlyApproval(world)
  const results = world.model.requests.all[1]?.messages.flatMap(each => (each.role === 'tool' ? [each] : []))
  expect(results?.map(({ text, isError }) => [text, isError])).toEqual([
    [`waiting: approval ${approval.id}`, false],
  ])
  expect(world.seen.messages.all.map(({ kind, data }) => [kind, data?.['status']])).toEqual([
    ['user', undefined],
    ['tool', 'waiting'],
    ['agent', undefined],
  ])
  expect(world.seen.states.all.at(-1)).toEqual({ name: 'homelab', status: 'waiting' })
  expect(world.seen.approvals.all).toEqual([
    {
      id: approval.id,
      number: 1,
      agent: 'homelab',
      tool: 'stop',
      arguments: ARGUMENTS,
      reason: 'tools.approve of the config lists it',
      expiresAt: world.clock.now() + 24 * 3_600_000,
      status: 'open',
      power: 'person',
      conversation: 'homelab/desk',
      askedBy: ['alex'],
    },
  ])
  expect([ran, await callStatuses(world)]).toEqual([[], ['waiting']])

  const decided = await world.approvals.decide({ id: approval.id, decision: 'approve', note: 'go', ...OWNER })
  expect(decided).toMatchObject({
    status: 'approved',
    decidedBy: 'owner',
    decidedWhere: '/ws',
    note: 'go',
  })
  expect(world.seen.approvals.all.at(-1)).toEqual(decided)
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[ARGUMENTS], ['ok']])
  expect(
    world.seen.messages.all.slice(3).map(({ kind, text, data }) => [kind, text, data?.['status']]),
  ).toEqual([
    ['notice', `owner approved stop ${JSON.stringify(ARGUMENTS)}: it runs now. Note: go`, undefined],
    ['tool', 'stopped atm-10', 'ok'],
    ['agent', 'I know', undefined],
  ])
  expect(new Set(world.seen.messages.all.map(({ conversation }) => conversation))).toEqual(
    new Set(['homelab/desk']),
  )
  expect(world.seen.calls.all.map(({ call: { status } }) => status)).toEqual([
    'waiting',
    'planned',
    'started',
    'ok',
  ])
  const told = world.model.requests.all.at(-1)?.messages.at(-1)?.text
  expect(told).toContain(`Approval ${approval.id}: stop was approved by owner and ran: ok, just now:`)
  expect(told).toContain('\n> Note: go\n> stopped atm-10')
  expect(world.seen.states.all.at(-1)).toEqual({ name: 'homelab', status: 'sleeping' })
})

test('a call that its model wants asked waits for a yes, whatever else is given', async () => {
  const { ran, tool } = stopTool({ destructive: false })
  await using world = await openWorld({ tools: [tool] })
  const asking: ModelReply = {
    text: '',
    calls: [{ id: 'call_asked', name: 'stop', arguments: JSON.stringify(ARGUMENTS), ask: true }],
    truncated: false,
  }
  world.model.script(() => asking, say('It waits'), say('I know'))
  await world.start()
  await world.post('perhaps stop it', 'homelab/desk')
  await world.idle()
  expect([ran, await callStatuses(world)]).toEqual([[], ['waiting']])
  const { id, reason } = await onlyApproval(world)
  expect(reason).toBe('the built-in commands ask before every change')
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[ARGUMENTS], ['ok']])
})

test('what is denied never runs, and the note is told', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], agents: [{ approve: ['st*'] }] })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id, reason } = await onlyApproval(world)
  expect(reason).toBe('approve in agents/homelab.md lists it')
  await world.approvals.decide({ id, decision: 'deny', note: 'not at night', ...OWNER })
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[], ['denied']])
  expect(await inboxAnswers(world)).toMatchObject([
    { approval: id, status: 'denied', by: 'owner', note: 'not at night', conversation: 'homelab' },
  ])
  const told = world.model.requests.all.at(-1)?.messages.at(-1)?.text
  expect(told).toContain('stop was denied by owner and did not run, just now:\n')
  expect(told).toContain('\n> Note: not at night')
  expect(world.seen.messages.all.findLast(({ kind }) => kind === 'tool')?.data?.['status']).toBe('denied')
})

test('nobody answers for 24 hours: it never runs and can not be approved any more', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['*'] } })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id } = await onlyApproval(world)
  world.clock.advance(APPROVAL_MS - 1)
  await world.approvals.expireDue()
  expect(await callStatuses(world)).toEqual(['waiting'])
  expect(await nextExpiry(world.store.db)).toBe(world.clock.now() + 1)
  world.clock.advance(1)
  // The approval is over even before the clock's timer has fired.
  await expect(world.approvals.decide({ id, decision: 'approve', ...OWNER })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/was expired at 2026-11-22T22:00:00Z already/),
  })
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[], ['expired']])
  expect(await inboxAnswers(world)).toMatchObject([{ approval: id, status: 'expired' }])
  expect(await nextExpiry(world.store.db)).toBeUndefined()
})

test('of two who decide at once the first wins, and the other hears who it was', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id } = await onlyApproval(world)
  const [first, second] = await Promise.allSettled([
    world.approvals.decide({ id, decision: 'deny', by: 'ann', where: '/ws' }),
    world.approvals.decide({ id, decision: 'approve', by: 'bob', where: '/mcp' }),
  ])
  expect(first).toMatchObject({ status: 'fulfilled', value: { status: 'denied', decidedBy: 'ann' } })
  expect(second).toMatchObject({
    status: 'rejected',
    reason: {
      code: 'conflict',
      message: `${id} was denied by ann over /ws at 2026-11-21T22:00:00Z already; it stays so.`,
    },
  })
  await untilSaid(world, 'I know')
  expect([ran, (await inboxAnswers(world)).length]).toEqual([[], 1])
  await expect(world.approvals.decide({ id: 'apr_x', decision: 'deny', ...OWNER })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('while its file is gone an agent cannot act: only a no is taken', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id } = await onlyApproval(world)
  world.agents.delete('homelab')
  await expect(world.approvals.decide({ id, decision: 'approve', ...OWNER })).rejects.toMatchObject({
    code: 'retired',
  })
  await world.approvals.decide({ id, decision: 'deny', ...OWNER })
  expect([ran, await callStatuses(world)]).toEqual([[], ['denied']])
})

test('arguments that are not those that were approved do not run', async () => {
  const { ran, tool } = stopTool()
  await using world = await openWorld({ tools: [tool], rules: { approve: ['stop'] } })
  world.model.script(...answers)
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id } = await onlyApproval(world)
  await world.store.write(tx =>
    tx.updateTable('tool_calls').set({ arguments: '{"server":"another"}' }).execute(),
  )
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'I know')
  expect([ran, await callStatuses(world)]).toEqual([[], ['error']])
})

test('what the call gives while its step still runs comes to the inbox, and not in place of its result', async () => {
  const { tool } = stopTool()
  const gate = Promise.withResolvers<void>()
  const slow: StubTool = {
    name: 'slow',
    async run() {
      await gate.promise
      return { text: 'slow did it', isError: false }
    },
  }
  await using world = await openWorld({ tools: [tool, slow], rules: { approve: ['stop'] } })
  world.model.script(call([['stop', ARGUMENTS], ['slow']]), say('I know'))
  await world.start()
  await world.post('stop it')
  await world.seen.calls.find('the other call runs', one => one.call.tool === 'slow')
  const { id } = await onlyApproval(world)
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await world.seen.messages.find('the call ran', ({ text }) => text === 'stopped atm-10')
  gate.resolve()
  await untilSaid(world, 'I know')
  const [, , ...results] = world.model.requests.all.at(-1)?.messages.map(({ text }) => text) ?? []
  expect(results).toEqual([`waiting: approval ${id}`, 'slow did it', expect.stringContaining('ran: ok')])
})

test('open approvals stand in the facts of each batch, and the agent takes a yes while it works', async () => {
  const { tool } = stopTool()
  const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }
  await using world = await openWorld({ tools: [tool, look], rules: { approve: ['stop'] } })
  const held = hold(call([['look']]))
  world.model.script(call([['stop', ARGUMENTS]]), say('I asked'), held.turn, say('I know'))
  await world.start()
  await world.post('stop it')
  await world.idle()
  const { id } = await onlyApproval(world)
  await world.post('and now?')
  await held.begun
  expect(world.model.requests.all.at(-1)?.messages.at(-1)?.text).toContain(
    `Open approvals, which a person decides:\n- ${id}: stop ${JSON.stringify(ARGUMENTS)}, open for another 24 h`,
  )
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await world.seen.messages.find('the call ran', ({ text }) => text === 'stopped atm-10')
  held.release()
  await untilSaid(world, 'I know')
  const last = world.model.requests.all.at(-1)?.messages.at(-1)?.text
  expect(last).toMatch(/^\[MID-CYCLE UPDATE - 1 event\]/)
  expect(last).not.toContain('Open approvals')
})
