import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { OWNER_PRINCIPAL } from '../../tests/support/principals.ts'
import type { ForwardOptions, JsonObject } from '../core/forwarding.ts'
import type { Caller } from './caller.ts'
import { PendingElicitations } from './pending-elicitations.ts'

const CALLER: Caller = {
  key: 'one',
  principal: OWNER_PRINCIPAL,
  view: { lean: false, toolset: undefined },
  client: { name: 'one', capabilities: { elicitation: {} }, logLevel: undefined },
  session: undefined,
  signal: new AbortController().signal,
  meta: {},
  repeat: {},
  notify: () => undefined,
}
const GATHERED_MS = 50

/** Opens a call that asks its caller for these, the first at once, and answers with what it was told. */
function openCall(...names: string[]) {
  const clock = createFakeClock()
  const pending = new PendingElicitations(clock)
  let askOthers: (() => void) | undefined
  const run = async ({ requester }: ForwardOptions) => {
    const put = (message: string) =>
      requester?.ask('elicitation/create', { message }, CALLER.signal) ?? Promise.resolve({})
    const [first, ...others] = names
    if (first === undefined) return { told: [] }
    const later = Promise.withResolvers<JsonObject[]>()
    askOthers = () => later.resolve(Promise.all(others.map(put)))
    return { told: [await put(first), ...(await later.promise)] }
  }
  return {
    clock,
    askOthers: () => askOthers?.(),
    begin: () => pending.start(CALLER, 'tools/call ask', run) as Promise<JsonObject>,
    resume: (state: string, answers: JsonObject, what = 'tools/call ask') =>
      pending.resume(CALLER, what, state, answers) as Promise<JsonObject>,
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

test('only the request that was asked goes on with the answers', async () => {
  const call = openCall('name')
  const begun = call.begin()
  await call.clock.armed(GATHERED_MS)
  call.askOthers()
  call.clock.advance(GATHERED_MS)
  const { requestState } = await begun
  await expect(call.resume(String(requestState), {}, 'tools/call other')).rejects.toThrow(
    'waits for no answer',
  )
})
