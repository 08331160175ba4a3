import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { textOf } from '../support/clients.ts'
import { askingServer, untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, within } from '../support/until.ts'

/** How long a question stays open. */
const QUESTION_MS = 24 * 3_600_000

let hub: TestHub
let endQuestions: (() => void)[] = []

beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({
      servers: {
        metrics: false,
        asking: askingServer('legacy'),
        own: { ...askingServer('legacy'), isolated: true },
      },
    }),
    overrides: {
      clock: {
        ...systemClock,
        after(delay, run) {
          if (delay !== QUESTION_MS) return systemClock.after(delay, run)
          endQuestions.push(run)
          return () => {
            endQuestions = endQuestions.filter(one => one !== run)
          }
        },
      },
    },
  })
  await untilReady(hub, 'asking', 'own')
})
afterAll(() => hub[Symbol.asyncDispose]())

type Answer = (signal: AbortSignal) => Promise<{ action: 'accept' }>

const accept: Answer = async () => ({ action: 'accept' })

/** A legacy client that can be asked, with its stream open. */
async function openAsked(answer: Answer) {
  const client = new Client(
    { name: 'asked', version: '1' },
    { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation: { mode: 'legacy' } },
  )
  const pagesDone = createRecord<string>()
  client.setRequestHandler('elicitation/create', (_request, { mcpReq }) => answer(mcpReq.signal))
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    pagesDone.add(params.elicitationId),
  )
  const listens = Promise.withResolvers<void>()
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', hub.url), {
    requestInit: { headers: { Authorization: `Bearer ${hub.token}` } },
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      if (init?.method === 'GET') listens.resolve()
      return response
    },
  })
  await client.connect(transport)
  await within('its stream is open', listens.promise)
  return {
    call: (name: string, server = 'asking') => client.callTool({ name: `${server}__${name}`, arguments: {} }),
    pagesDone,
    untilDone: (count: number) =>
      pagesDone.find('it hears that the page is done', () => pagesDone.all.length >= count),
    [Symbol.asyncDispose]: () => client.close(),
  }
}

test('that a page is done is told to who was sent there, by a question or an error, and to nobody else', async () => {
  await using one = await openAsked(accept)
  await using two = await openAsked(accept)
  await one.call('sign_in')
  await two.call('signed_in')
  await one.untilDone(1)
  await expect(two.call('open_mail')).rejects.toThrow('Sign in first')
  await one.call('signed_in')
  await two.untilDone(1)
  await one.call('sign_in')
  await two.call('signed_in')
  await one.untilDone(2)
  expect([one.pagesDone.all, two.pagesDone.all]).toEqual([['sign-in', 'sign-in'], ['sign-in']])
})

test('that a page is done is told by a process of the session’s own too', async () => {
  await using client = await openAsked(accept)
  await client.call('sign_in', 'own')
  await client.call('signed_in', 'own')
  await client.untilDone(1)
})

test('a question that nobody answers for a day is given up, and its server is told', async () => {
  const asked = Promise.withResolvers<AbortSignal>()
  await using client = await openAsked(signal => {
    asked.resolve(signal)
    return new Promise(() => undefined)
  })
  const call = client.call('set_up')
  const signal = await within('it is asked', asked.promise)
  expect(endQuestions.length).toBe(1)
  for (const end of endQuestions) end()
  expect(textOf(await call)).toContain('Nobody answered within 24 hours')
  expect(signal.aborted).toBe(true)
  expect(endQuestions).toEqual([])
})
