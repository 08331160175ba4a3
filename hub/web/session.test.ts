import { describe, expect, test } from 'vitest'
import type { Approval } from '../../schemas/chat.ts'
import type { Message, Pending } from './conversation.ts'
import { createOutbox } from './outbox.ts'
import { createSession } from './session.ts'

class FakeSocket extends EventTarget {
  readyState = 1
  sent: Record<string, unknown>[] = []
  send(text: string) {
    this.sent.push(JSON.parse(text))
  }
  close() {
    this.readyState = 3
  }
  hear(frame: object) {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(frame) }))
  }
  drop() {
    this.dispatchEvent(new Event('close'))
  }
}

class FakeStorage {
  getItem(key: string) {
    return (this as unknown as Record<string, string>)[key] ?? null
  }
  setItem(key: string, value: string) {
    Object.assign(this, { [key]: value })
  }
  removeItem(key: string) {
    Reflect.deleteProperty(this, key)
  }
}

const WELCOME = {
  type: 'welcome',
  hub: { name: 'h', version: '1' },
  you: { name: 'owner', role: 'owner' },
  agents: [{ name: 'homelab', description: '', status: 'sleeping' }],
  conversations: [{ id: 'homelab', agents: ['homelab'], lastSeq: 450 }],
}

function message(seq: number, more: Partial<Message> = {}) {
  return {
    seq,
    id: `m${seq}`,
    conversation: 'homelab',
    kind: 'agent',
    author: 'homelab',
    text: 't',
    at: 1,
    ...more,
  }
}

function setUp(storage = new FakeStorage()) {
  const sockets: FakeSocket[] = []
  const calls: Record<string, unknown>[] = []
  let lastId = 0
  const pages = { limit: 100, failure: null as Error | null }
  const approvals: Approval[] = []
  const session = createSession({
    openSocket: () => {
      sockets.push(new FakeSocket())
      return sockets[sockets.length - 1] as unknown as WebSocket
    },
    mcp: {
      discover: async () => ({}),
      async call<Result>(name: string, args: Record<string, unknown> = {}) {
        if (name === 'hub_list_approvals') {
          const status = args['status']
          return { approvals: approvals.filter(one => !status || one.status === status) } as Result
        }
        calls.push(args)
        if (pages.failure) throw pages.failure
        const { after, limit } = args as { after: number; limit: number }
        const size = Math.min(limit, pages.limit)
        return {
          messages: Array.from({ length: size }, (_, i) => message(after + 1 + i)),
          lastSeq: 450,
        } as Result
      },
    },
    outbox: createOutbox(() => storage as unknown as Storage),
    clock: { now: () => 5, after: () => () => undefined },
    random: () => 0,
    newId: () => `id${++lastId}`,
    schedule: run => run(),
  })
  const socket = () => sockets[sockets.length - 1] as FakeSocket
  const conversation = () => {
    const found = session.chat.get().conversations['homelab']
    if (!found) throw new Error('no conversation')
    return found
  }
  session.start()
  return { session, storage, socket, calls, conversation, pages, approvals }
}

const texts = (socket: FakeSocket) => socket.sent.filter(frame => frame['type'] === 'message')

describe('sending', () => {
  test('what was written without a link goes out with its id after each welcome, until it is accepted', () => {
    const { session, socket, conversation } = setUp()
    session.send('homelab', 'one')
    expect(conversation().pending).toHaveLength(1)
    expect(texts(socket())).toEqual([])
    socket().hear(WELCOME)
    const { timeZone: timezone } = new Intl.DateTimeFormat().resolvedOptions()
    const frame = { type: 'message', conversation: 'homelab', text: 'one', clientId: 'id1', timezone }
    expect(texts(socket())).toEqual([frame])
    socket().drop()
    session.wake()
    socket().hear(WELCOME)
    expect(texts(socket())).toEqual([frame])
    socket().hear({
      type: 'accepted',
      clientId: 'id1',
      message: message(451, { kind: 'user', clientId: 'id1' }),
    })
    expect(conversation().pending).toEqual([])
    socket().drop()
    session.wake()
    socket().hear(WELCOME)
    expect(texts(socket())).toEqual([])
  })

  test('what was not accepted survives a reload, in its order', () => {
    const storage = new FakeStorage()
    const first = setUp(storage)
    first.session.send('homelab', 'one')
    first.session.send('homelab', 'two')
    const second = setUp(storage)
    expect(second.conversation().pending.map((one: Pending) => one.text)).toEqual(['one', 'two'])
    second.socket().hear(WELCOME)
    expect(texts(second.socket()).map(frame => frame['clientId'])).toEqual(['id1', 'id2'])
    second.socket().hear({ type: 'message', message: message(451, { kind: 'user', clientId: 'id1' }) })
    expect(
      setUp(storage)
        .conversation()
        .pending.map((one: Pending) => one.text),
    ).toEqual(['two'])
  })

  test('a refused one waits for the person', () => {
    const { session, socket, conversation } = setUp()
    socket().hear(WELCOME)
    session.send('homelab', 'one')
    socket().hear({ type: 'error', code: 'flood', message: 'Too many', clientId: 'id1' })
    socket().drop()
    session.wake()
    socket().hear(WELCOME)
    expect(texts(socket())).toEqual([])
    session.retry(conversation().pending[0] as Pending)
    expect(texts(socket())).toHaveLength(1)
    session.discard(conversation().pending[0] as Pending)
    expect(conversation().pending).toEqual([])
  })
})

describe('reading', () => {
  test('opening brings the last page; coming back, only what was missed', () => {
    const { session, socket } = setUp()
    socket().hear(WELCOME)
    session.open('homelab')
    session.open('homelab')
    const subscribes = () => socket().sent.filter(frame => frame['type'] === 'subscribe')
    expect(subscribes().map(frame => frame['after'])).toEqual([450, 250])
    socket().hear({ type: 'subscribed', conversation: 'homelab', lastSeq: 450 })
    socket().hear({ type: 'message', message: message(251) })
    socket().drop()
    session.wake()
    socket().hear(WELCOME)
    expect(subscribes().map(frame => frame['after'])).toEqual([251])
  })

  test('an earlier page comes through /mcp, in as many parts as the hub gives', async () => {
    const { session, socket, calls, conversation } = setUp()
    socket().hear(WELCOME)
    session.open('homelab')
    await session.loadEarlier('homelab')
    expect(calls.map(args => [args['after'], args['limit']])).toEqual([
      [50, 200],
      [150, 100],
    ])
    expect(conversation().base).toBe(50)
    expect(conversation().messages.map((one: Message) => one.seq)).toHaveLength(200)
  })

  test('a page that cannot be read is told, and can be asked for again', async () => {
    const { session, socket, pages, conversation } = setUp()
    socket().hear(WELCOME)
    session.open('homelab')
    pages.failure = new Error('The hub cannot be reached.')
    await session.loadEarlier('homelab')
    expect(session.chat.get().problem?.text).toMatch(/could not be loaded.*cannot be reached/)
    expect(conversation().base).toBe(250)
    session.dismissProblem()
    pages.failure = null
    await session.loadEarlier('homelab')
    expect(session.chat.get().problem).toBeNull()
    expect(conversation().base).toBe(50)
  })
})

describe('approvals', () => {
  const ASKED: Approval = {
    id: 'apr_1',
    agent: 'homelab',
    tool: 'stop_game_server',
    arguments: { server: 'atm-10' },
    reason: 'tools.approve lists it',
    expiresAt: 99,
    status: 'open',
    power: 'routine',
  }
  const DENIED: Approval = {
    ...ASKED,
    status: 'denied',
    decidedBy: 'ann',
    decidedWhere: '/mcp',
    decidedAt: 4,
  }
  const settled = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }

  test('an answer goes out as a frame, and the card waits for the hub’s word', () => {
    const { session, socket } = setUp()
    expect(session.decide('apr_1', 'approve', '')).toBe(false)
    socket().hear(WELCOME)
    socket().hear({ type: 'approval', approval: ASKED })
    expect(session.decide('apr_1', 'deny', ' not at night ')).toBe(true)
    expect(socket().sent.at(-1)).toEqual({
      type: 'decide',
      approval: 'apr_1',
      decision: 'deny',
      note: 'not at night',
    })
    expect(session.chat.get().deciding).toEqual({ apr_1: 'deny' })
    session.decide('apr_2', 'approve', '', '1d')
    expect(socket().sent.at(-1)).toEqual({
      type: 'decide',
      approval: 'apr_2',
      decision: 'approve',
      always: '1d',
    })
    session.decide('apr_2', 'deny', '', '1d')
    expect(socket().sent.at(-1)).toEqual({ type: 'decide', approval: 'apr_2', decision: 'deny' })
    socket().hear({ type: 'approval', approval: DENIED })
    expect(session.chat.get()).toMatchObject({ deciding: {}, approvals: { apr_1: DENIED } })
  })

  test('what was refused, or lost with the link, can be answered again', () => {
    const { session, socket } = setUp()
    socket().hear(WELCOME)
    socket().hear({ type: 'approval', approval: ASKED })
    session.decide('apr_1', 'approve', '')
    socket().hear({ type: 'error', code: 'retired', message: 'Its agent is retired' })
    expect(session.chat.get()).toMatchObject({ deciding: {}, problem: { text: 'Its agent is retired' } })
    session.decide('apr_1', 'approve', '')
    socket().drop()
    expect(session.chat.get().deciding).toEqual({})
  })

  test('after each welcome the open ones are read, and what became of those that were open', async () => {
    const { session, socket, approvals } = setUp()
    approvals.push(ASKED)
    socket().hear(WELCOME)
    await settled()
    expect(session.chat.get().approvals).toEqual({ apr_1: ASKED })
    socket().drop()
    approvals.splice(0, 1, DENIED, { ...DENIED, id: 'apr_0' }, { ...ASKED, id: 'apr_2' })
    session.wake()
    socket().hear(WELCOME)
    await settled()
    expect(session.chat.get().approvals).toEqual({ apr_1: DENIED, apr_2: { ...ASKED, id: 'apr_2' } })
  })
})

test('stopping names the conversation', () => {
  const { session, socket } = setUp()
  expect(session.stopWork('homelab')).toBe(false)
  socket().hear(WELCOME)
  expect(session.stopWork('homelab')).toBe(true)
  expect(socket().sent.at(-1)).toEqual({ type: 'stop', conversation: 'homelab' })
})
