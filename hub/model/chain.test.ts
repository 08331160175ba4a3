import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { live, request } from '../../tests/support/provider.ts'
import { createScriptedModel, hold, refuse, say } from '../../tests/support/scripted-model.ts'
import { ModelError } from '../core/model.ts'
import { createChain } from './chain.ts'

function openChain() {
  const clock = createFakeClock(0)
  const main = { ...createScriptedModel(), name: 'main' }
  const spare = {
    ...createScriptedModel([], { maxOutput: 100 }),
    name: 'spare',
    price: { currency: 'EUR', input: 1, cachedInput: 1, output: 2 },
  }
  const answered: string[] = []
  const onAnswers = (name: string) => answered.push(name)
  const chain = createChain([{ model: main, baseUrl: 'http://main/v1' }, { model: spare }], {
    now: clock.now,
    onAnswers,
  })
  const alone = createChain([{ model: main }], { now: clock.now, onAnswers })
  const ask = (model = chain) => model.complete(request('hi'), { signal: live(), onText: () => undefined })
  const fails = async (model = chain) => {
    const error = await ask(model).then(
      () => expect.unreachable('it answered'),
      thrown => thrown,
    )
    expect(error).toBeInstanceOf(ModelError)
    return error as ModelError
  }
  return { clock, main, spare, chain, alone, answered, ask, fails }
}

test('the first answers as long as it can, under its own name', async () => {
  const { main, spare, chain, ask } = openChain()
  main.script(say('one'))
  const reply = await ask()
  expect([reply.text, reply.by]).toEqual(['one', undefined])
  expect(spare.requests.all).toEqual([])
  expect([chain.name, chain.maxOutput]).toEqual(['main', main.maxOutput])
})

test.for(['auth', 'rejected'] as const)(
  'after %s the next is asked at once, within its own limit',
  async kind => {
    const { main, spare, chain, ask } = openChain()
    main.script(refuse(kind))
    spare.script(say('two'))
    const reply = await ask()
    expect([reply.text, reply.by]).toEqual(['two', { name: 'spare', price: spare.price }])
    expect(spare.requests.all[0]?.maxOutput).toBe(100)
    expect(chain.health.retryAt()).toBeUndefined()
  },
)

test('where all refuse, the first error is thrown', async () => {
  const { main, spare, fails } = openChain()
  main.script(refuse('auth'))
  spare.script(refuse('rejected'))
  expect((await fails()).kind).toBe('auth')
})

test('an overflow is for the caller to mend', async () => {
  const { main, spare, chain, fails } = openChain()
  main.script(refuse('overflow'))
  const error = await fails()
  expect(error.kind).toBe('overflow')
  expect([spare.requests.all.length, chain.health.giveUp(error), chain.health.retryAt()]).toEqual([
    0,
    false,
    undefined,
  ])
})

test("an error that may pass is the caller's to repeat; given up, the next is asked", async () => {
  const { main, spare, chain, ask, fails } = openChain()
  main.script(refuse('network'), refuse('network'))
  expect((await fails()).kind).toBe('network')
  const error = await fails()
  expect(spare.requests.all).toEqual([])
  expect(chain.health.giveUp(error)).toBe(true)
  spare.script(say('two'))
  expect((await ask()).by?.name).toBe('spare')
  expect(main.requests.all).toHaveLength(2)
  expect(chain.health.providers()).toEqual([
    {
      name: 'main',
      baseUrl: 'http://main/v1',
      state: 'down',
      retryAt: 30_000,
      error: 'The provider says network.',
    },
    { name: 'spare', state: 'ok' },
  ])
})

test('an open circuit asks nobody; its time doubles up to ten minutes, and a success begins anew', async () => {
  const { clock, main, alone, answered, ask, fails } = openChain()
  main.script(refuse('server'))
  expect(alone.health.giveUp(await fails(alone))).toBe(false)
  for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
    expect(alone.health.retryAt()).toBe(clock.now() + seconds * 1000)
    expect((await fails(alone)).kind).toBe('unavailable')
    clock.advance(seconds * 1000 - 1)
    expect((await fails(alone)).kind).toBe('unavailable')
    clock.advance(1)
    main.script(refuse('server'))
    // The probe fails, and is not repeated.
    expect((await fails(alone)).kind).toBe('unavailable')
  }
  expect(main.requests.all).toHaveLength(8)
  clock.advance(600_000)
  main.script(say('back'), refuse('server'))
  expect((await ask(alone)).text).toBe('back')
  expect(answered).toEqual(['main'])
  alone.health.giveUp(await fails(alone))
  expect(alone.health.retryAt()).toBe(clock.now() + 30_000)
})

test('half open, one call finds out and the others wait', async () => {
  const { clock, main, alone, ask, fails } = openChain()
  main.script(refuse('network'))
  alone.health.giveUp(await fails(alone))
  clock.advance(30_000)
  expect(alone.health.retryAt()).toBeUndefined()
  const probe = hold(say('back'))
  main.script(probe.turn, say('me too'))
  const first = ask(alone)
  await probe.begun
  expect(alone.health.providers()[0]?.state).toBe('trying')
  expect((await fails(alone)).kind).toBe('unavailable')
  probe.release()
  expect((await first).text).toBe('back')
  expect((await ask(alone)).text).toBe('me too')
})

test('what was asked before neither ends the one call that finds out nor lets a second one try', async () => {
  const { clock, main, alone, ask, fails } = openChain()
  const early = [hold(say('never')), hold(refuse('network'))]
  main.script(...early.map(({ turn }) => turn), refuse('network'))
  const stop = new AbortController()
  const stopped = alone.complete(request('hi'), { signal: stop.signal, onText: () => undefined })
  const failing = fails(alone)
  await Promise.all(early.map(({ begun }) => begun))
  alone.health.giveUp(await fails(alone))
  clock.advance(30_000)
  const probe = hold(say('back'))
  main.script(probe.turn)
  const first = ask(alone)
  await probe.begun
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  early[1]?.release()
  const error = await failing
  expect(error.kind).toBe('network')
  expect(alone.health.giveUp(error)).toBe(false)
  expect(alone.health.providers()[0]?.state).toBe('trying')
  expect((await fails(alone)).kind).toBe('unavailable')
  probe.release()
  expect((await first).text).toBe('back')
  expect(alone.health.retryAt()).toBeUndefined()
})

test('the provider may ask for a longer time; a person closes the circuit', async () => {
  const { clock, main, alone, ask, fails } = openChain()
  main.script(refuse('rate_limit', 120_000), say('fine'))
  alone.health.giveUp(await fails(alone))
  expect(alone.health.retryAt()).toBe(clock.now() + 120_000)
  alone.health.reset()
  expect(alone.health.retryAt()).toBeUndefined()
  expect((await ask(alone)).text).toBe('fine')
})

test('calls that fail together count as one failure', async () => {
  const { clock, main, alone, fails } = openChain()
  main.script(refuse('network'), refuse('network'), refuse('network'))
  const errors = [await fails(alone), await fails(alone), await fails(alone)]
  for (const error of errors) alone.health.giveUp(error)
  expect(alone.health.retryAt()).toBe(clock.now() + 30_000)
})

test('chains that share their circuits know of each other what is down', async () => {
  const clock = createFakeClock(0)
  const options = { now: clock.now, onAnswers: () => undefined, circuits: new Map() }
  const model = createScriptedModel([refuse('network')])
  const link = { model, baseUrl: 'http://same' }
  const [one, other] = [createChain([link], options), createChain([link], options)]
  const ask = (chain: typeof one) =>
    chain.complete(request('hi'), { signal: live(), onText: () => undefined }).catch(error => error)
  one.health.giveUp(await ask(one))
  expect((await ask(other)).kind).toBe('unavailable')
  expect(model.requests.all).toHaveLength(1)
})
