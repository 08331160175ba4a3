import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import type { Asker, JsonObject } from '../core/forwarding.ts'
import { createParked, type Party } from './parked.ts'

const PARTY: Party = { key: 'one', capabilities: { elicitation: {} }, logLevel: undefined }
const GATHERED_MS = 50

/** Opens a call that asks its caller for these, the first at once, and answers with what it was told. */
function openCall(...names: string[]) {
  const clock = createFakeClock()
  const parked = createParked(clock)
  const round = { signal: new AbortController().signal, onProgress: undefined, onLog: () => undefined }
  let askOthers: (() => void) | undefined
  const run = async ({ ask }: Asker) => {
    const put = (message: string) => ask('elicitation/create', { message }, round.signal)
    const [first, ...others] = names
    if (first === undefined) return { told: [] }
    const later = Promise.withResolvers<JsonObject[]>()
    askOthers = () => later.resolve(Promise.all(others.map(put)))
    return { told: [await put(first), ...(await later.promise)] }
  }
  return {
    clock,
    askOthers: () => askOthers?.(),
    begin: () => parked.begin(PARTY, round, run) as Promise<JsonObject>,
    resume: (state: string, answers: JsonObject) =>
      parked.resume(PARTY, round, state, answers) as Promise<JsonObject>,
  }
}

test('what a server asks at once reaches the client together, and the answers the server', async () => {
  const call = openCall('name', 'color', 'place')
  const begun = call.begin()
  await call.clock.armed(GATHERED_MS)
  call.askOthers()
  call.clock.advance(GATHERED_MS)
  const { resultType, inputRequests, requestState } = await begun
  expect(resultType).toBe('input_required')
  expect(Object.values(inputRequests as JsonObject)).toEqual(
    ['name', 'color', 'place'].map(message => ({ method: 'elicitation/create', params: { message } })),
  )
  const answers = Object.keys(inputRequests as JsonObject).map(key => [key, { answer: key }] as const)
  const result = await call.resume(String(requestState), Object.fromEntries(answers))
  expect(result).toEqual({ told: answers.map(([, answer]) => answer) })
})

test('a call that asks nothing waits for nothing', async () => {
  const call = openCall()
  expect(await call.begin()).toEqual({ told: [] })
  expect(call.clock.timers).toBe(0)
})
