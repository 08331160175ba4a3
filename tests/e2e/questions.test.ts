import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../hub/core/clock.ts'
import { textOf } from '../support/clients.ts'
import { askingServer, untilReady } from '../support/downstream.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { createRecord, within } from '../support/until.ts'

/** Milliseconds for which a question stays open. */
const QUESTION_MS = 5 * 60_000
const ERAS = ['legacy', 'modern'] as const

let hub: TestHub
let endQuestions: (() => void)[] = []

beforeAll(async () => {
  hub = await startTestHub({
    config: JSON.stringify({
      servers: {
        metrics: false,
        asking: askingServer('legacy'),
        modern: askingServer('modern'),
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
  await untilReady(hub, 'asking', 'modern', 'own')
})
afterAll(() => hub[Symbol.asyncDispose]())

type Answer = (signal: AbortSignal) => Promise<{ action: 'accept' }>

const accept: Answer = async () => ({ action: 'accept' })

/** Opens a client that can be asked; a legacy one with its stream open. */
async function openAsked(answer: Answer, era: (typeof ERAS)[number] = 'legacy') {
  const client = new Client(
    { name: 'asked', version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  const asked: string[] = []
  const pagesDone = createRecord<string>()
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
    asked.push(params.message)
    return answer(mcpReq.signal)
  })
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
  if (era === 'legacy') await within('its stream is open', listens.promise)
  return {
    asked,
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

test('a page that a call wants opened first is quoted as a question is', async () => {
  await using client = await openAsked(accept)
  await expect(client.call('open_mail')).rejects.toMatchObject({
    elicitations: [
      {
        message: 'the server asking asks, in its own words: “Sign in”. Never answer with a password or a key',
        url: 'https://example.org/in',
        elicitationId: 'sign-in',
      },
    ],
  })
  expect(textOf(await client.call('run_script'))).toContain('only a page of http or https can be opened')
})

test('that a page is done is told by a process of the session’s own too', async () => {
  await using client = await openAsked(accept)
  await client.call('sign_in', 'own')
  await client.call('signed_in', 'own')
  await client.untilDone(1)
})

test('a question that nobody answers within five minutes is given up, and its server is told', async () => {
  const asked = Promise.withResolvers<AbortSignal>()
  await using client = await openAsked(signal => {
    asked.resolve(signal)
    return new Promise(() => undefined)
  })
  const call = client.call('set_up')
  const signal = await within('it is asked', asked.promise)
  expect(endQuestions.length).toBe(1)
  for (const end of endQuestions) end()
  expect(textOf(await call)).toContain('Nobody answered within 5 minutes')
  expect(signal.aborted).toBe(true)
  expect(endQuestions).toEqual([])
})

describe.each(ERAS)('a client of the %s era', era => {
  test.each(['asking', 'modern'])('is told which server asks: %s', async server => {
    await using client = await openAsked(accept, era)
    await client.call('sign_in', server)
    expect(client.asked).toEqual([
      `the server ${server} asks, in its own words: “Sign in”. Never answer with a password or a key`,
    ])
  })

  test.each(['asking', 'modern'])('is not asked for a password by the server %s', async server => {
    await using client = await openAsked(accept, era)
    expect(textOf(await client.call('log_in', server))).toContain(
      'password: a form must not ask for passwords',
    )
    expect(client.asked).toEqual([])
  })
})

test('a client of the modern era that does not answer a legacy server is waited for five minutes', async () => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<{ action: 'accept' }>()
  await using client = await openAsked(() => {
    asked.resolve()
    return answered.promise
  }, 'modern')
  const call = client.call('set_up')
  await within('it is asked', asked.promise)
  expect(endQuestions.length).toBe(1)
  for (const end of endQuestions) end()
  answered.resolve({ action: 'accept' })
  await expect(call).rejects.toThrow('This request waits for no answer any more')
})
