import { expect, test } from 'vitest'
import { openWorld } from '../../tests/support/runtime-world.ts'
import { call, hold, refuse, say } from '../../tests/support/scripted-model.ts'

type World = Awaited<ReturnType<typeof openWorld>>
const told = (world: World) =>
  world.seen.messages.all.filter(({ kind }) => kind === 'error' || kind === 'notice')
const look = { name: 'look', run: () => ({ text: 'seen', isError: false }) }

test('promise 9: the limit on steps stops the cycle and says how to raise it', async () => {
  await using world = await openWorld({ agents: [{ limits: { steps: 2, minutes: 10 } }], tools: [look] })
  world.model.script(call([['look']]), call([['look']]), say('on it again'))
  await world.start()
  await world.post('go')
  await world.idle()
  expect(told(world)[0]?.data).toEqual({ limit: 'limits.steps', value: 2, used: 2 })
  expect(told(world).map(({ kind, text }) => [kind, text])).toEqual([
    [
      'notice',
      'I stopped after 2 steps, the limit of one cycle. Raise limits.steps in agents/homelab.md, or tell me to go on.',
    ],
  ])
  await world.post('go on')
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('on it again')
  const roles = world.model.requests.all[2]?.messages.map(message => message.role).join(' ')
  expect(roles).toBe('user assistant tool assistant tool user')
})

test('promise 9: the limit on minutes cuts a model that answers too late', async () => {
  await using world = await openWorld({ agents: [{ limits: { steps: 30, minutes: 1 } }] })
  const held = hold(say('too late'))
  world.model.script(held.turn)
  await world.start()
  await world.post('go')
  await held.begun
  world.clock.advance(59_999)
  expect(world.runtime.busy).toBe(1)
  world.clock.advance(1)
  await world.idle()
  expect(told(world).map(({ text }) => text)).toEqual([
    'I stopped after 1 minute, the limit of one cycle. Raise limits.minutes in agents/homelab.md, or tell me to go on.',
  ])
  expect(world.clock.timers).toBe(0)
})

test('promise 9: what was streamed until the minutes were over is kept, by people and by the agent', async () => {
  await using world = await openWorld({ agents: [{ limits: { steps: 30, minutes: 1 } }] })
  const held = hold(say('too late'))
  world.model.script((request, options) => {
    options.onText('The disks are')
    return held.turn(request, options)
  }, say('fine'))
  await world.start()
  await world.post('go')
  await held.begun
  world.clock.advance(60_000)
  await world.idle()
  expect(world.seen.messages.all.slice(1).map(({ kind, text }) => [kind, text])).toEqual([
    ['agent', 'The disks are\n\n(stopped here)'],
    ['notice', expect.stringContaining('I stopped after 1 minute')],
  ])
  await world.post('go on')
  await world.idle()
  const before = world.model.requests.all[1]?.messages.at(-2)
  expect(before?.text).toBe('The disks are\n\n[My time was over here.]')
})

test('promise 3: a call that the minutes cut is told as unknown, and what the others gave is kept', async () => {
  const begun = Promise.withResolvers<void>()
  const slow = {
    name: 'slow',
    run: (_args: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        begun.resolve()
      }),
  }
  await using world = await openWorld({
    agents: [{ limits: { steps: 30, minutes: 1 } }],
    tools: [look, slow],
  })
  world.model.script(
    call([['look'], ['slow'], ['look'], ['store_context', { key: 'a', value: 'b' }]]),
    say('ok'),
  )
  await world.start()
  await world.post('go')
  await begun.promise
  world.clock.advance(60_000)
  await world.idle()
  await world.post('what happened?')
  await world.idle()
  const results = world.model.requests.all[1]?.messages.flatMap(each => (each.role === 'tool' ? [each] : []))
  expect(results?.map(({ name, text }) => `${name}: ${text.slice(0, 16)}`)).toEqual([
    'look: seen',
    'slow: Outcome unknown:',
    'look: Not run: the cyc',
    'store_context: Not run: the cyc',
  ])
  const ledger = await world.store.db.selectFrom('tool_calls').select('status').orderBy('position').execute()
  expect(ledger.map(({ status }) => status)).toEqual(['ok', 'unknown', 'skipped', 'skipped'])
  expect(world.seen.calls.all.at(-1)?.call.status).toBe('skipped')
  expect(await world.store.db.selectFrom('context').selectAll().execute()).toEqual([])
})

test('promise 9: after its minutes no further call begins, even if the last one takes no notice', async () => {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  let changed = 0
  await using world = await openWorld({
    agents: [{ limits: { steps: 30, minutes: 1 } }],
    tools: [
      {
        name: 'stubborn',
        async run() {
          begun.resolve()
          await gate.promise
          return { text: 'done all the same', isError: false }
        },
      },
      { name: 'change', run: () => ({ text: `${++changed}`, isError: false }) },
    ],
  })
  world.model.script(call([['stubborn'], ['change']]))
  await world.start()
  await world.post('go')
  await begun.promise
  world.clock.advance(60_000)
  gate.resolve()
  await world.idle()
  const ledger = await world.store.db.selectFrom('tool_calls').select('status').orderBy('position').execute()
  expect([changed, ...ledger.map(({ status }) => status)]).toEqual([0, 'ok', 'skipped'])
})

test('promise 11: a model that fails is tried again by its table; that is told once, and that it works again', async () => {
  await using world = await openWorld()
  world.model.script(...Array.from({ length: 4 }, () => refuse('server')), say('back again'))
  await world.start()
  await world.post('hi')
  let timers = 0
  for (const wait of [1_500, 1_500, 10_000, 20_000]) {
    timers = await world.clock.armed(wait, timers)
    world.clock.advance(wait)
  }
  await world.idle()
  expect(world.model.requests.all).toHaveLength(5)
  const [failed, works] = told(world)
  expect(told(world)).toHaveLength(2)
  expect(failed?.data).toEqual({ attempt: 3, of: 4, retryAt: expect.any(Number), retryable: true })
  expect([works?.kind, works?.text]).toEqual(['notice', 'The model answers again; I go on.'])
  expect(world.seen.messages.all.at(-1)?.text).toBe('back again')
  expect(world.clock.timers).toBe(0)
})

test('what no repeat can mend is a dead letter at once', async () => {
  await using world = await openWorld()
  world.model.script(refuse('auth'))
  await world.start()
  await world.post('hi')
  await world.idle()
  expect(told(world).map(({ kind, data }) => [kind, data])).toEqual([
    ['error', { attempt: 1, of: 1, retryable: false, deadLetter: expect.stringMatching(/^dl_/) }],
  ])
  expect(world.model.requests.all).toHaveLength(1)
})

test('promise 11: a failure is told to everyone who waits, and a failed event in the first conversation', async () => {
  await using world = await openWorld({
    agents: [{ conversations: ['desk', 'phone'], events: ['cpu_high'] }],
  })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from elsewhere', 'homelab/x')
  world.model.script(refuse('auth'), refuse('auth'))
  world.semaphore.resize(8)
  await world.idle()
  expect(told(world).map(({ conversation }) => conversation)).toEqual(['homelab/x', 'phone'])
  await world.router.postEvent({ source: 'm', externalId: '1', type: 'cpu_high', payload: {}, at: 0 })
  await world.idle()
  expect(told(world).at(-1)?.conversation).toBe('desk')
})

test('one that was answered before the failure is not told of it', async () => {
  await using world = await openWorld({ agents: [{ conversations: ['desk', 'phone'] }] })
  await world.start()
  world.semaphore.resize(0)
  await world.post('from the phone', 'phone')
  await world.post('from the desk', 'desk')
  world.model.script(say('hello desk'), refuse('auth'))
  world.semaphore.resize(8)
  await world.idle()
  expect(told(world).map(({ conversation }) => conversation)).toEqual(['phone'])
})

test('a stop of the hub while it waits to try again tells nothing, and the next start goes on', async () => {
  await using world = await openWorld()
  world.model.script(refuse('network'))
  await world.start()
  await world.post('hi')
  await world.clock.armed(1_500)
  await world.runtime[Symbol.asyncDispose]()
  expect(told(world)).toEqual([])
  world.model.script(say('here'))
  await world.start()
  await world.idle()
  expect(world.seen.messages.all.at(-1)?.text).toBe('here')
})
