import { expect, it } from 'vitest'
import { systemClock } from '../../core/clock.ts'
import { openWireCall } from './wire-call.ts'

const endpoint = { baseUrl: 'http://gpu.lan/v1', apiKey: 'sk-secret' }

const tell = (thrown: unknown) => {
  using call = openWireCall({
    endpoint,
    clock: systemClock,
    signal: new AbortController().signal,
    timeout: 1,
  })
  return call.toError(thrown)
}

it('tells what a package says that sends nothing', () => {
  expect(tell(new Error("'file part audio/wav' functionality not supported for sk-secret"))).toMatchObject({
    kind: 'rejected',
    message:
      "The provider at http://gpu.lan/v1 was not asked: 'file part audio/wav' functionality not supported for [key]",
  })
})

it.each([() => new Headers({ 'x-secret': 'hid\nden' }), () => new URL('hidden')])(
  'tells where to look, and nothing secret, where an address or a header is what cannot be used',
  make => {
    let thrown: unknown
    try {
      make()
    } catch (error) {
      thrown = error
    }
    expect(tell(thrown)).toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/Check OPENAI_BASE_URL(?!.*(hidden|den))/),
    })
  },
)
