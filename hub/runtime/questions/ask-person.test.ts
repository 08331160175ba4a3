import { expect, test } from 'vitest'
import { callStatuses, OWNER, onlyApproval, untilSaid } from '../../../tests/support/approvals.ts'
import { askingTool, openQuestion, PORT_FORM, SURE } from '../../../tests/support/questions.ts'
import { openWorld, type StubTool, type WorldOptions } from '../../../tests/support/runtime-world.ts'
import { call, hold, say } from '../../../tests/support/scripted-model.ts'
import { QUESTION_MS } from '../../core/server-question.ts'

const elicitation = 'elicitation/create'

async function openAsking(questions: Parameters<typeof askingTool>[1][], options: WorldOptions = {}) {
  const asking = askingTool(elicitation, ...questions)
  const world = await openWorld({ tools: [asking.tool], ...options })
  world.model.script(call([['setup']]), say('I asked'), say('done'))
  await world.start()
  await world.post('set it up')
  return { ...asking, world, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('a question of a server becomes an approval in the words of the server, and a yes answers it', async () => {
  await using asking = await openAsking([SURE])
  const { world, answers } = asking
  const { id } = await openQuestion(world)
  await world.seen.states.find('it waits', ({ status }) => status === 'waiting')
  expect(world.seen.approvals.all).toEqual([
    {
      id,
      number: 1,
      agent: 'homelab',
      tool: 'setup',
      arguments: { wants: {} },
      reason: 'Really?',
      expiresAt: world.clock.now() + QUESTION_MS,
      status: 'open',
      power: 'person',
      question: true,
      conversation: 'homelab',
      askedBy: ['alex'],
    },
  ])
  await world.idle()
  expect(await callStatuses(world)).toEqual(['waiting'])
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'done')
  expect(answers).toEqual([{ action: 'accept', content: {} }])
  expect(await callStatuses(world)).toEqual(['ok'])
  expect(world.model.requests.all.at(-1)?.messages.at(-1)?.text).toContain(
    'setup ended: ok; its server asked a person meanwhile (approved by owner)',
  )
  expect(world.seen.messages.all.map(({ kind, text, data }) => [kind, text, data?.['status']])).toEqual([
    ['user', 'set it up', undefined],
    ['tool', expect.stringContaining(`waiting: approval ${id}: Really?`), 'waiting'],
    ['agent', 'I asked', undefined],
    ['notice', 'owner said yes to the question of setup.', undefined],
    ['tool', '{"action":"accept","content":{}}', 'ok'],
    ['agent', 'done', undefined],
  ])
  expect(world.seen.calls.all.map(({ call: { status } }) => status)).toEqual([
    'started',
    'waiting',
    'started',
    'ok',
  ])
  expect(world.seen.states.all.map(({ status }) => status)).toEqual([
    'active',
    'waiting',
    'active',
    'sleeping',
  ])
  await expect(world.approvals.decide({ id, decision: 'deny', ...OWNER })).rejects.toThrow(
    'was approved by owner',
  )
})

test('a no declines, and the agent goes on', async () => {
  await using asking = await openAsking([SURE, SURE])
  const { world, answers } = asking
  for (let asked = 0; asked < 2; asked++) {
    const { id } = await openQuestion(world)
    await world.approvals.decide({ id, decision: 'deny', note: 'not now', ...OWNER })
  }
  await untilSaid(world, 'done')
  expect(answers).toEqual([{ action: 'decline' }, { action: 'decline' }])
  expect(await callStatuses(world)).toEqual(['ok'])
})

test('the note beside a yes fills the form in; one that does not fit leaves the question open', async () => {
  await using asking = await openAsking([PORT_FORM])
  const { world, answers } = asking
  const { id } = await openQuestion(world)
  const decide = (note?: string) => world.approvals.decide({ id, decision: 'approve', note, ...OWNER })
  await expect(decide()).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringContaining('port: missing'),
  })
  await expect(decide('99999')).rejects.toThrow('port: must be integer from 1 to 65535')
  expect((await onlyApproval(world)).status).toBe('open')
  await decide('8080')
  await untilSaid(world, 'done')
  expect(answers).toEqual([{ action: 'accept', content: { port: 8080 } }])
})

test('a page to open is shown with its address', async () => {
  const page = { mode: 'url', message: 'Sign in', url: 'https://example.org/in?x=1', elicitationId: 'e1' }
  await using asking = await openAsking([page])
  const { world, answers } = asking
  const { id } = await openQuestion(world)
  expect(world.seen.approvals.all.at(-1)?.arguments).toEqual({ opens: 'https://example.org/in?x=1' })
  await world.approvals.decide({ id, decision: 'approve', note: 'done', ...OWNER })
  await untilSaid(world, 'done')
  expect(answers).toEqual([{ action: 'accept' }])
})

test('a question that nobody answers within five minutes is cancelled', async () => {
  await using asking = await openAsking([SURE])
  const { world, answers } = asking
  await openQuestion(world)
  await untilSaid(world, 'I asked')
  expect(QUESTION_MS).toBe(5 * 60_000)
  world.clock.advance(QUESTION_MS - 1)
  await world.fireDue()
  await world.approvals.expireDue()
  expect(answers).toEqual([])
  world.clock.advance(1)
  await world.approvals.expireDue()
  await untilSaid(world, 'done')
  expect(answers).toEqual([{ action: 'cancel' }])
  expect(world.seen.messages.all.slice(-3).map(({ text }) => text)).toEqual([
    'The question of setup is closed. Nobody answered in time.',
    '{"action":"cancel"}',
    'done',
  ])
})

test("a question does not block other people's messages", async () => {
  await using asking = await openAsking([SURE])
  const { world, answers } = asking
  const { id } = await openQuestion(world)
  await untilSaid(world, 'I asked')
  world.model.script(say('and later'))
  await world.post('what else?', 'homelab/kitchen')
  await untilSaid(world, 'done')
  expect(answers).toEqual([])
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await untilSaid(world, 'and later')
  expect(answers).toEqual([{ action: 'accept', content: {} }])
  expect(world.seen.messages.all.at(-1)?.conversation).toBe('homelab')
})

test('promise 9: the call has its own minutes, which stand still while a person is asked', async () => {
  const asking = askingTool(elicitation, SURE)
  const began = Promise.withResolvers<void>()
  const slow: StubTool = {
    name: 'setup',
    async run(args, options) {
      await asking.tool.run(args, options)
      began.resolve()
      const { signal } = options
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      )
    },
  }
  await using world = await openWorld({ tools: [slow] })
  world.model.script(call([['setup']]), say('I asked'), say('I know'))
  await world.start()
  await world.post('go')
  const { id } = await openQuestion(world)
  await world.idle()
  world.clock.advance(4 * 60_000)
  await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  await began.promise
  world.clock.advance(10 * 60_000 - 1)
  expect(await callStatuses(world)).toEqual(['waiting'])
  world.clock.advance(1)
  await untilSaid(world, 'I know')
  expect(await callStatuses(world)).toEqual(['unknown'])
})

test('a stop ends the cycle and leaves the question to the person who is asked', async () => {
  const asking = askingTool(elicitation, SURE)
  await using world = await openWorld({ tools: [asking.tool] })
  const held = hold(say('never said'))
  world.model.script(call([['setup']]), held.turn, say('done'))
  await world.start()
  await world.post('go')
  const { id } = await openQuestion(world)
  await held.begun
  await world.router.stop({ conversation: 'homelab' }, 'alex')
  await world.idle()
  expect(asking.answers).toEqual([])
  await world.approvals.decide({ id, decision: 'deny', ...OWNER })
  await untilSaid(world, 'done')
  expect([asking.answers, await callStatuses(world)]).toEqual([[{ action: 'decline' }], ['ok']])
})

test.for(['open', 'answered'])(
  'after a kill with a question %s the call is in doubt, and that is told',
  async when => {
    const gate = Promise.withResolvers<void>()
    const asking = askingTool(elicitation, SURE)
    const slow: StubTool = {
      name: 'setup',
      async run(args, options) {
        const outcome = await asking.tool.run(args, options)
        await gate.promise
        return outcome
      },
    }
    await using world = await openWorld({ tools: [slow] })
    world.model.script(call([['setup']]), say('I asked'), say('I look'))
    await world.start()
    await world.post('go')
    const { id } = await openQuestion(world)
    await world.idle()
    if (when === 'answered') await world.approvals.decide({ id, decision: 'approve', ...OWNER })
    world.kill()
    await world.start()
    await untilSaid(world, 'I look')
    const [status, note] =
      when === 'open' ? ['expired', 'The hub stopped before anybody answered.'] : ['approved', null]
    expect(await onlyApproval(world)).toMatchObject({ id, status, note, answered_at: expect.any(Number) })
    expect(await callStatuses(world)).toEqual(['unknown'])
    expect(world.model.requests.all.at(-1)?.messages.at(-1)?.text).toContain('setup ended: unknown;')
    await expect(world.approvals.decide({ id, decision: 'approve', ...OWNER })).rejects.toMatchObject({
      code: 'conflict',
    })
    gate.resolve()
  },
)

test('one call may ask twenty times', async () => {
  const nested = { type: 'object', properties: { user: { type: 'object' } } }
  await using asking = await openAsking(Array(21).fill({ ...SURE, requestedSchema: nested }))
  await asking.world.idle()
  const refused = 'user: a form has texts, numbers, yes or no, and choices alone'
  expect(asking.errors).toEqual([...Array(20).fill(refused), 'One call may ask 20 times at most'])
})

test('a call that ends takes its question along', async () => {
  const given = Promise.withResolvers<void>()
  const impatient: StubTool = {
    name: 'setup',
    async run(_args, { requester, signal }) {
      requester?.ask(elicitation, SURE, signal).catch(() => undefined)
      await given.promise
      return { text: 'gave up', isError: false }
    },
  }
  await using asking = await openAsking([], { tools: [impatient] })
  await openQuestion(asking.world)
  given.resolve()
  await untilSaid(asking.world, 'done')
  expect(await onlyApproval(asking.world)).toMatchObject({ status: 'expired', decided_by: 'hub' })
})

test('an approved call may ask too', async () => {
  const { answers, tool } = askingTool(elicitation, SURE)
  await using world = await openWorld({ tools: [tool], rules: { approve: ['setup'] } })
  world.model.script(call([['setup']]), say('asked'), say('set up'))
  await world.start()
  await world.post('set it up')
  await world.idle()
  for (const tool of ['the call', 'its question']) {
    const { id, question_json } = await openQuestion(world)
    expect(question_json === null).toBe(tool === 'the call')
    await world.approvals.decide({ id, decision: 'approve', ...OWNER })
  }
  await untilSaid(world, 'set up')
  expect(answers).toEqual([{ action: 'accept', content: {} }])
})
