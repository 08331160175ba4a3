import { describe, expect, test } from 'vitest'
import {
  backoff,
  createConnection,
  PING_AFTER,
  PONG_WITHIN,
  PONG_WITHIN_AWAKE,
  WELCOME_WITHIN,
} from './connection.ts'

class FakeSocket extends EventTarget {
  readyState = 1
  sent: { type: string }[] = []
  closed = false
  send(text: string) {
    this.sent.push(JSON.parse(text))
  }
  close() {
    this.closed = true
  }
  hear(frame: unknown) {
    const data = typeof frame === 'string' ? frame : JSON.stringify(frame)
    this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }
  drop() {
    this.dispatchEvent(new Event('close'))
  }
}

function createFakeClock() {
  let now = 1_000_000
  const timers = new Map<object, { at: number; run: () => void }>()
  return {
    now: () => now,
    after(delay: number, run: () => void) {
      const key = {}
      timers.set(key, { at: now + delay, run })
      return () => timers.delete(key)
    },
    pending: () => timers.size,
    advance(span: number) {
      const end = now + span
      for (;;) {
        const due = [...timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0]
        if (!due) break
        now = due[1].at
        timers.delete(due[0])
        due[1].run()
      }
      now = end
    },
  }
}

function setUp(cause = 'unreachable') {
  const clock = createFakeClock()
  const sockets: FakeSocket[] = []
  const links: { status: string; cause?: string; retryAt?: number }[] = []
  const frames: { type: string }[] = []
  const answer = { cause }
  const connection = createConnection({
    openSocket: () => {
      sockets.push(new FakeSocket())
      return last() as unknown as WebSocket
    },
    probe: async () => answer.cause as never,
    clock: clock as never,
    random: () => 0,
    onFrame: frame => frames.push(frame),
    onLink: link => links.push(link),
  })
  const last = () => sockets[sockets.length - 1] as FakeSocket
  const link = () => links[links.length - 1]
  return { clock, sockets, links, frames, connection, answer, last, link }
}

/** Waits until the probe's promise settles. */
const settled = async () => {
  for (let i = 0; i < 5; i++) await Promise.resolve()
}

const WELCOME = { type: 'welcome', agents: [], conversations: [] }

describe('backoff', () => {
  test.each([
    [1, 0, 500],
    [1, 1, 1_000],
    [2, 0, 1_000],
    [4, 0.5, 6_000],
    [6, 1, 30_000],
    [500, 0, 15_000],
  ])('attempt %i with dice %f waits %i ms', (attempt, dice, delay) => {
    expect(backoff(attempt, dice)).toBe(delay)
  })
})

describe('connection', () => {
  test('is open with the welcome, not before, and hands every frame on', () => {
    const { connection, last, link, frames } = setUp()
    connection.start()
    expect(link()?.status).toBe('connecting')
    expect(connection.send({ type: 'ping' })).toBe(false)
    last().hear(WELCOME)
    expect(link()).toEqual({ status: 'open' })
    last().hear('no json')
    last().hear('"no frame"')
    last().hear({ type: 'of a later protocol' })
    expect(frames.map(frame => frame.type)).toEqual(['welcome', 'of a later protocol'])
    expect(connection.send({ type: 'subscribe' })).toBe(true)
    expect(last().sent).toEqual([{ type: 'subscribe' }])
  })

  test('comes back after a loss with growing pauses, and begins small again after a welcome', async () => {
    const { connection, clock, sockets, last, link } = setUp()
    connection.start()
    last().hear(WELCOME)
    last().drop()
    expect(link()).toMatchObject({ status: 'waiting', cause: 'lost', retryAt: clock.now() + 500 })
    clock.advance(500)
    expect(sockets).toHaveLength(2)
    for (const pause of [500, 1_000, 2_000, 4_000]) {
      last().drop()
      await settled()
      expect(link()).toMatchObject({ status: 'waiting', retryAt: clock.now() + pause })
      clock.advance(pause)
    }
    last().hear(WELCOME)
    last().drop()
    expect(link()).toMatchObject({ retryAt: clock.now() + 500 })
  })

  test('does not wait once it is woken', () => {
    const { connection, sockets, last } = setUp()
    connection.start()
    last().hear(WELCOME)
    last().drop()
    connection.wake()
    expect(sockets).toHaveLength(2)
    connection.wake()
    expect(sockets).toHaveLength(2)
  })

  test.each(['unauthorized', 'forbidden'])('gives up when the hub says %s', async cause => {
    const { connection, clock, sockets, last, link } = setUp(cause)
    connection.start()
    last().drop()
    await settled()
    expect(link()).toEqual({ status: 'refused', cause })
    clock.advance(600_000)
    expect(sockets).toHaveLength(1)
    expect(clock.pending()).toBe(0)
  })

  test('asks after a silence, and drops a link that does not answer', () => {
    const { connection, clock, sockets, last, link } = setUp()
    connection.start()
    last().hear(WELCOME)
    clock.advance(PING_AFTER)
    expect(last().sent).toEqual([{ type: 'ping' }])
    last().hear({ type: 'pong' })
    clock.advance(PONG_WITHIN)
    expect(link()?.status).toBe('open')
    clock.advance(PING_AFTER)
    expect(link()?.status).toBe('waiting')
    expect(sockets[0]?.closed).toBe(true)
  })

  test('asks at once when woken, with less patience', () => {
    const { connection, clock, last, link } = setUp()
    connection.start()
    last().hear(WELCOME)
    connection.wake()
    expect(last().sent).toEqual([{ type: 'ping' }])
    clock.advance(PONG_WITHIN_AWAKE)
    expect(link()?.status).toBe('waiting')
  })

  test('any frame proves the link, so a busy one is never asked', () => {
    const { connection, clock, last } = setUp()
    connection.start()
    last().hear(WELCOME)
    for (let i = 0; i < 10; i++) {
      clock.advance(PING_AFTER - 1)
      last().hear({ type: 'delta' })
    }
    expect(last().sent).toEqual([])
  })

  test('gives up a socket that never says welcome, and what it says later is not heard', async () => {
    const { connection, clock, sockets, frames, link } = setUp('no-socket')
    connection.start()
    clock.advance(WELCOME_WITHIN)
    await settled()
    expect(link()).toMatchObject({ status: 'waiting', cause: 'no-socket' })
    sockets[0]?.hear(WELCOME)
    expect(frames).toEqual([])
  })

  test('holds no timer and no socket once stopped, even while it asks why', async () => {
    const { connection, clock, sockets, last } = setUp()
    connection.start()
    last().drop()
    connection.stop()
    await settled()
    clock.advance(600_000)
    expect(sockets).toHaveLength(1)
    expect(clock.pending()).toBe(0)
  })
})
