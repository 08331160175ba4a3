import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { within } from '../../tests/support/until.ts'
import { ProgressFlush } from './progress-flush.ts'

const NOTE: JSONRPCMessage = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
}
const LOG: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/message', params: {} }
const QUESTION: JSONRPCMessage = { jsonrpc: '2.0', id: 7, method: 'roots/list' }
const RESULT: JSONRPCMessage = { jsonrpc: '2.0', id: 1, result: {} }
const FAILURE: JSONRPCMessage = { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'No' } }
const ANSWERS = [
  { what: 'a result', answer: RESULT },
  { what: 'an error', answer: FAILURE },
]

function pong(number: number): JSONRPCMessage {
  return { jsonrpc: '2.0', id: `superbloom-ping-${number}`, result: {} }
}

function openClient() {
  const clock = createFakeClock()
  const pings: JSONRPCMessage[] = []
  const notes = new ProgressFlush(clock, async ping => void pings.push(ping))
  /** Begins to write a message; `isWritten` is true at once if nothing keeps the message back. */
  const write = async (message: JSONRPCMessage) => {
    const writing = { isWritten: false, written: notes.before(message) }
    void writing.written.then(() => {
      writing.isWritten = true
    })
    await new Promise(setImmediate)
    return writing
  }
  return { clock, pings, notes, write }
}

describe('to a client that can be asked', () => {
  test.each(ANSWERS)('$what after a note waits for the answer to a ping', async ({ answer }) => {
    const { clock, pings, notes, write } = openClient()
    notes.allowPings()
    expect((await write(NOTE)).isWritten).toBe(true)
    expect((await write(LOG)).isWritten).toBe(true)
    const writing = await write(answer)
    expect(pings).toEqual([{ jsonrpc: '2.0', id: 'superbloom-ping-1', method: 'ping' }])
    expect(writing.isWritten).toBe(false)
    expect(notes.take(pong(1))).toBe(true)
    await within('it is written', writing.written)
    expect(clock.timers).toBe(0)
  })

  test('what follows no note waits for nothing', async () => {
    const { pings, notes, write } = openClient()
    notes.allowPings()
    expect((await write(RESULT)).isWritten).toBe(true)
    await write(NOTE)
    expect((await write(QUESTION)).isWritten).toBe(true)
    const first = await write(RESULT)
    notes.take(pong(1))
    await within('it is written', first.written)
    expect((await write(RESULT)).isWritten).toBe(true)
    expect(pings).toHaveLength(1)
  })

  test('an answer to an earlier ping is not taken for that to the latest', async () => {
    const { notes, write } = openClient()
    notes.allowPings()
    await write(NOTE)
    const first = await write(RESULT)
    notes.take(pong(1))
    await within('it is written', first.written)
    await write(NOTE)
    const second = await write(RESULT)
    expect(notes.take(pong(1))).toBe(true)
    await new Promise(setImmediate)
    expect(second.isWritten).toBe(false)
    notes.take(pong(2))
    await within('it is written', second.written)
  })

  test('one that does not answer is asked once, and then left some time', async () => {
    const { clock, pings, notes, write } = openClient()
    notes.allowPings()
    await write(NOTE)
    const first = await write(RESULT)
    clock.advance(1_999)
    await new Promise(setImmediate)
    expect(first.isWritten).toBe(false)
    clock.advance(1)
    await within('it is written', first.written)
    await write(NOTE)
    const second = await write(RESULT)
    expect(second.isWritten).toBe(false)
    clock.advance(50)
    await within('it is written', second.written)
    expect(pings).toHaveLength(1)
    expect(notes.take(pong(1))).toBe(true)
  })

  test('nothing is kept back once the client has left', async () => {
    const { clock, notes, write } = openClient()
    notes.allowPings()
    await write(NOTE)
    const writing = await write(RESULT)
    notes.giveUp()
    await within('it is written', writing.written)
    expect(clock.timers).toBe(0)
  })
})

describe('to a client that takes no requests', () => {
  test.each(ANSWERS)('$what comes some time after the latest note', async ({ answer }) => {
    const { clock, pings, write } = openClient()
    await write(NOTE)
    clock.advance(30)
    await write(NOTE)
    clock.advance(20)
    const writing = await write(answer)
    clock.advance(29)
    await new Promise(setImmediate)
    expect(writing.isWritten).toBe(false)
    clock.advance(1)
    await within('it is written', writing.written)
    expect(pings).toEqual([])
  })

  test('a result long after its notes waits for nothing', async () => {
    const { clock, write } = openClient()
    await write(NOTE)
    clock.advance(50)
    const writing = await write(RESULT)
    clock.advance(0)
    await within('it is written', writing.written)
    expect(clock.timers).toBe(0)
  })
})

test.each([
  ['another request’s answer', RESULT],
  ['one with a text for an id', { jsonrpc: '2.0', id: 'mine', result: {} }],
  ['a request that is named like a ping', { jsonrpc: '2.0', id: 'superbloom-ping-1', method: 'ping' }],
  ['a notification', NOTE],
] satisfies [string, JSONRPCMessage][])('%s is not taken for the answer to a ping', (_what, message) => {
  expect(openClient().notes.take(message)).toBe(false)
})
