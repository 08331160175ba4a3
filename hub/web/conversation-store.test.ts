import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApprovals } from './approvals.ts'
import { isCaughtUp, type Message, PAGE } from './conversation.ts'
import {
  applyDisconnect,
  applyEarlier,
  applyFrame,
  applyOpen,
  applyReleased,
  applySend,
  type ChatState,
  EMPTY_CHAT,
  subscriptions,
} from './conversation-store.ts'

const AGENT = { name: 'homelab', description: 'Looks after it', status: 'sleeping' }

function welcome(lastSeq = 0, status = 'sleeping') {
  const conversations = lastSeq ? [{ id: 'homelab', agents: ['homelab'], lastSeq }] : []
  return {
    type: 'welcome',
    you: { role: 'owner' },
    hub: { name: 'h', version: '1' },
    agents: [{ ...AGENT, status }],
    conversations,
  }
}

function message(seq: number, more: Partial<Message> = {}): Message {
  const text = more.text ?? `text ${seq}`
  return {
    seq,
    id: `m${seq}`,
    conversation: 'homelab',
    kind: 'agent',
    author: 'homelab',
    text,
    at: seq,
    ...more,
  }
}

const feed = (state: ChatState, ...frames: object[]) =>
  frames.reduce((s, f) => applyFrame(s, f as never, 7), state)
const said = (seq: number, more?: Partial<Message>) => ({ type: 'message', message: message(seq, more) })
const delta = (text: string, cycle = 'c1') => ({ type: 'delta', conversation: 'homelab', cycle, text })
const tool = (id: string, status: string) => ({
  type: 'tool',
  conversation: 'homelab',
  cycle: 'c1',
  call: { id, tool: 'get_x', status },
})
const homelab = (state: ChatState) => {
  const conversation = state.conversations['homelab']
  if (!conversation) throw new Error('no conversation homelab')
  return conversation
}
const opened = (lastSeq = 0, status = 'active') =>
  feed(applyOpen(feed(EMPTY_CHAT, welcome(lastSeq, status)), 'homelab'), {
    type: 'subscribed',
    conversation: 'homelab',
    lastSeq,
  })

describe('welcome', () => {
  test('an agent without a conversation has its default one', () => {
    expect(homelab(feed(EMPTY_CHAT, welcome())).agents).toEqual(['homelab'])
  })

  test('an agent that shares a conversation gets none of its own', () => {
    const shared = { id: 'home', agents: ['homelab'], lastSeq: 3 }
    const state = feed(EMPTY_CHAT, { ...welcome(), conversations: [shared] })
    expect(Object.keys(state.conversations)).toEqual(['home'])
  })

  test('what was deleted meanwhile is gone; what is open or was never sent begins anew or stays', () => {
    const others = ['read', 'unread', 'waiting'].map(name => ({
      id: `homelab/${name}`,
      agents: ['homelab'],
      lastSeq: 3,
    }))
    const first = welcome(1)
    const pending = { clientId: 'x', conversation: 'homelab/waiting', text: 'hi', at: 1 }
    let state = feed(EMPTY_CHAT, { ...first, conversations: [...first.conversations, ...others] })
    state = applyOpen(applySend(applyOpen(state, 'homelab/read'), pending), 'homelab/new')
    state = feed(state, said(3, { conversation: 'homelab/read' }))
    const after = feed(applyDisconnect(state), first).conversations
    expect(Object.keys(after).toSorted()).toEqual([
      'homelab',
      'homelab/new',
      'homelab/read',
      'homelab/waiting',
    ])
    expect(after['homelab/read']).toMatchObject({ opened: true, messages: [], lastSeq: 0, seen: 0 })
    expect(after['homelab/waiting']).toMatchObject({ lastSeq: 0, pending: [pending] })
    expect(after['homelab/new']).toMatchObject({ opened: true, lastSeq: 0 })
  })

  test('a history that became shorter is another one, and what waits to be sent stays', () => {
    const pending = { clientId: 'x', conversation: 'homelab', text: 'hi', at: 1 }
    const before = applySend(feed(opened(2), said(1), said(2)), pending)
    const after = homelab(feed(before, welcome(1)))
    expect(after).toMatchObject({ messages: [], base: 0, seen: 0, opened: true, pending: [pending] })
  })
})

test('agents are held until they are let go, or one of them works', () => {
  const held = { ...welcome(), hub: { name: 'h', version: '1', held: 5 } }
  const state = feed(EMPTY_CHAT, held)
  expect(state.hub?.held).toBe(5)
  expect(applyReleased(state).hub).toEqual({ name: 'h', version: '1' })
  const asleep = { type: 'agent', name: 'homelab', status: 'sleeping' }
  expect(feed(state, asleep).hub?.held).toBe(5)
  expect(feed(state, { ...asleep, status: 'active' }).hub?.held).toBeUndefined()
})

describe('subscribing', () => {
  test('a message that waits to be sent does not bring the whole history with it', () => {
    const pending = { clientId: 'x', conversation: 'homelab', text: 'hi', at: 1 }
    const state = feed(applySend(EMPTY_CHAT, pending), welcome(9_000))
    expect(subscriptions(state)[0]).toMatchObject({ after: 9_000 })
    expect(homelab(state).pending).toEqual([pending])
  })

  test('what is not read yet tells only of news', () => {
    expect(subscriptions(feed(EMPTY_CHAT, welcome(9)))).toEqual([
      { type: 'subscribe', conversation: 'homelab', after: 9 },
    ])
  })

  test.each([
    [0, 0],
    [PAGE, 0],
    [PAGE + 50, 50],
  ])('one with %i messages is opened after %i', (lastSeq, after) => {
    expect(subscriptions(opened(lastSeq))[0]).toMatchObject({ after })
  })

  test('it resumes after the last that was delivered in order', () => {
    const state = feed(opened(5), said(1), said(2), { type: 'accepted', clientId: 'x', message: message(6) })
    expect(subscriptions(applyDisconnect(state))[0]).toMatchObject({ after: 2 })
    expect(isCaughtUp(homelab(state))).toBe(false)
    expect(isCaughtUp(homelab(feed(state, said(3), said(4), said(5))))).toBe(true)
  })

  test('numbers that the hub no longer has do not hold it back', () => {
    const state = feed(opened(50), said(40), said(50))
    expect(subscriptions(state)[0]).toMatchObject({ after: 50 })
  })
})

describe('a conversation that is deleted while the page looks on', () => {
  const forgotten = { type: 'subscribed', conversation: 'homelab', lastSeq: 0 }
  const pending = { clientId: 'x', conversation: 'homelab', text: 'hi', at: 1 }

  test('begins anew; what waits to be sent stays', () => {
    const state = feed(applySend(feed(opened(2), said(1), said(2), delta('half')), pending), forgotten)
    const empty = { messages: [], live: [], base: 0, seen: 0, lastSeq: 0, opened: true, pending: [pending] }
    expect(homelab(state)).toMatchObject(empty)
    const after = homelab(feed(state, delta('other'), said(1)))
    expect(after).toMatchObject({ messages: [message(1)], live: [], seen: 1, lastSeq: 1 })
    expect(isCaughtUp(after)).toBe(true)
  })

  test('and one that nobody read tells of news again', () => {
    const after = homelab(feed(EMPTY_CHAT, welcome(50), forgotten, said(1)))
    expect(after).toMatchObject({ opened: false, lastSeq: 1, seen: 1 })
  })
})

describe('messages', () => {
  test('any order, any repeats: each once, by number', () => {
    const seqs = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 80 })
    fc.assert(
      fc.property(seqs, list => {
        const state = feed(opened(), ...list.map(seq => said(seq)))
        expect(homelab(state).messages.map(one => one.seq)).toEqual([...new Set(list)].sort((a, b) => a - b))
      }),
    )
  })

  test('an earlier page joins without repeats', () => {
    const state = applyEarlier(feed(opened(250), said(51)), 'homelab', [message(50), message(51)], 49)
    expect(homelab(state)).toMatchObject({ base: 49 })
    expect(homelab(state).messages.map(one => one.seq)).toEqual([50, 51])
  })

  test.each(['message', 'accepted'])('a pending one becomes durable by %s', type => {
    const pending = { clientId: 'x', conversation: 'homelab', text: 'hi', at: 1 }
    const durable = message(1, { kind: 'user', clientId: 'x' })
    const state = feed(applySend(opened(), pending), { type, clientId: 'x', message: durable })
    expect(homelab(state)).toMatchObject({ pending: [], messages: [durable] })
  })

  test('a refusal stays at its message; any other error is told apart', () => {
    const pending = { clientId: 'x', conversation: 'homelab', text: 'hi', at: 1 }
    const state = applySend(opened(), pending)
    const refused = feed(state, { type: 'error', code: 'flood', message: 'Too many', clientId: 'x' })
    expect(homelab(refused).pending).toEqual([{ ...pending, refused: 'Too many' }])
    expect(refused.problem).toBeNull()
    const other = feed(state, { type: 'error', code: 'unknown', message: 'No such agent' })
    expect(other.problem).toEqual({ text: 'No such agent', at: 7 })
  })
})

describe('what is live', () => {
  test('deltas grow one text per cycle, and the final message replaces it', () => {
    const growing = feed(opened(), delta('Hel'), delta('lo'), delta('Other', 'c2'))
    expect(homelab(growing).live.map(live => live.text)).toEqual(['Hello', 'Other'])
    const done = feed(growing, said(1, { text: 'Hello there' }))
    expect(homelab(done).live.map(live => live.text)).toEqual(['Other'])
  })

  test('the cycle that a message names is the one it ends', () => {
    const state = feed(
      opened(),
      delta('same'),
      delta('same', 'c2'),
      said(1, { text: 'same', data: { cycle: 'c2' } }),
    )
    expect(homelab(state).live.map(live => live.cycle)).toEqual(['c1'])
  })

  test('text before a tool call gives way to the text after it', () => {
    const state = feed(opened(), delta('Let me look.'), tool('a', 'planned'), tool('a', 'started'))
    expect(homelab(state).live[0]).toMatchObject({
      text: 'Let me look.',
      calls: [{ id: 'a', status: 'started' }],
    })
    expect(homelab(feed(state, delta('All '), delta('good'))).live[0]?.text).toBe('All good')
  })

  test('a durable tool message takes its live row away, and a late frame brings none back', () => {
    const row = said(1, { kind: 'tool', author: 'get_x', data: { call: 'a', tool: 'get_x', status: 'ok' } })
    const state = feed(opened(), tool('a', 'started'), tool('b', 'started'), row, tool('a', 'ok'))
    expect(homelab(state).live[0]?.calls.map(call => call.id)).toEqual(['b'])
  })

  test('a call that waited for a person is live again once it runs', () => {
    const data = { call: 'a', tool: 'get_x', status: 'waiting', approval: 'apr_1' }
    const asked = feed(opened(), tool('a', 'waiting'), said(1, { kind: 'tool', author: 'get_x', data }))
    expect(homelab(asked).live).toEqual([])
    const runs = feed(asked, tool('a', 'started'))
    expect(homelab(runs).live[0]?.calls).toMatchObject([{ id: 'a', status: 'started' }])
    const done = feed(runs, said(2, { kind: 'tool', data: { ...data, status: 'ok' } }), tool('a', 'ok'))
    expect(homelab(done).live).toEqual([])
  })

  test('nothing is live once no agent of the conversation works', () => {
    const state = feed(opened(), delta('Hel'), { type: 'agent', name: 'homelab', status: 'sleeping' })
    expect(homelab(state).live).toEqual([])
  })

  test('history that arrives beside a running cycle ends nothing', () => {
    const fresh = feed(EMPTY_CHAT, welcome(3, 'active'), delta('Hel'))
    const state = feed(applyOpen(fresh, 'homelab'), said(1), said(2), said(3))
    expect(homelab(state).live[0]?.text).toBe('Hel')
    expect(homelab(feed(state, said(4))).live).toEqual([])
  })

  test('after a lost link, and after an error, the text begins anew', () => {
    const lost = feed(applyDisconnect(feed(opened(), delta('Hel'))), delta('again'))
    expect(homelab(lost).live[0]?.text).toBe('again')
    const failed = feed(opened(), delta('Hel'), said(1, { kind: 'error', author: 'hub' }), delta('again'))
    expect(homelab(failed).live[0]?.text).toBe('again')
  })
})

test('an approval that was decided never opens again', () => {
  const approval = (status: string) => ({ type: 'approval', approval: { id: 'apr_1', expiresAt: 9, status } })
  const state = feed(opened(), approval('open'))
  expect(openApprovals(state.approvals).map(one => one.id)).toEqual(['apr_1'])
  const decided = feed(state, approval('approved'), approval('open'))
  expect(openApprovals(decided.approvals)).toEqual([])
  expect(decided.approvals['apr_1']?.status).toBe('approved')
})

test('frames of a later protocol change nothing', () => {
  const state = opened()
  expect(feed(state, { type: 'weather', sky: 'blue' }, { type: 'pong' })).toBe(state)
})
