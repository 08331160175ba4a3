import { expect, test } from 'vitest'
import type { NewUserMessage } from '../../../schemas/chat.ts'
import { drainItems } from '../../../tests/support/drain-items.ts'
import { createFakeClock } from '../../../tests/support/fake-clock.ts'
import { OWNER_PRINCIPAL } from '../../../tests/support/principals.ts'
import { openTempStore } from '../../../tests/support/temp-store.ts'
import { createIds } from '../../core/ids.ts'
import { createSignals } from '../../core/signals.ts'
import { appendMessage, readMessages } from '../../store/conversations.ts'
import { createCycle, endCycle } from '../../store/cycles.ts'
import { postItem } from '../../store/inbox.ts'
import { chat } from './chat.ts'
import type { HubToolDeps } from './deps.ts'

const unused = () => expect.fail('hub_chat does not use this')

/** Opens the tool over a hub in which no agent ever answers. */
async function openChatTool(onPost?: () => void) {
  const store = await openTempStore()
  const clock = createFakeClock()
  const newId = createIds(clock.now)
  const posted: NewUserMessage[] = []
  const signals = createSignals(unused)
  const listed = { description: '', status: 'sleeping', conversations: [], shared: false } as const
  const deps: HubToolDeps = {
    redact: text => text,
    store,
    clock,
    newId,
    signals,
    timezone: 'UTC',
    agents: async () => [
      { ...listed, name: 'homelab', conversations: ['homelab', 'family'] },
      { ...listed, name: 'zoe' },
      { ...listed, name: 'old', status: 'retired' },
    ],
    async postMessage(said) {
      posted.push(said)
      onPost?.()
      const { conversation, text, author } = said
      const at = clock.now()
      const message = { id: newId('msg'), conversation, text, author, kind: 'user' as const, at }
      const payload = { kind: 'notice' as const, text }
      const item = { thread: 'thr_a', source: 'chat', externalId: message.id, payload, at }
      return store.write(async tx => {
        await postItem(tx, { ...item, power: 'routine' })
        return appendMessage(tx, message)
      })
    },
    why: unused,
    mayUse: () => true,
    tokens: {
      list: unused,
      create: unused,
      revoke: unused,
      revokeAll: unused,
      invite: unused,
      inviteOwner: unused,
      remove: unused,
    },
    servers: {
      states: unused,
      add: unused,
      remove: unused,
      restore: unused,
      enable: unused,
      setToolMode: unused,
      restart: unused,
      read: unused,
      log: unused,
    },
    programs: { list: unused, find: unused, try: unused, set: unused },
    network: { reach: unused, letIn: unused, document: '' },
    setNotify: unused,
    url: unused,
    reset: unused,
    stop: unused,
    describeConfig: unused,
    models: { find: unused, try: unused, keep: unused },
    describeClient: unused,
    agentFiles: { read: unused, check: unused, write: unused, remove: unused },
    acceptTools: unused,
    postEvent: unused,
    explain: unused,
    house: unused,
    status: unused,
  }
  return {
    clock,
    posted,
    store,
    signals,
    run: (args: object, signal = new AbortController().signal) =>
      chat.run({ message: 'hi', ...args }, { deps, principal: OWNER_PRINCIPAL, signal, progress: unused }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

test.for<[object, string]>([
  [{}, 'homelab/mcp-owner'],
  [{ agent: 'zoe' }, 'zoe/mcp-owner'],
  [{ conversation: 'family' }, 'family'],
  [{ agent: 'homelab', conversation: 'family' }, 'family'],
  [{ agent: 'zoe', conversation: 'zoe/x' }, 'zoe/x'],
  [{ agent: 'old', conversation: 'old/x' }, 'old/x'],
])('%j goes to %s', async ([args, conversation]) => {
  await using world = await openChatTool()
  const call = world.run({ ...args, waitSeconds: 10 })
  await world.clock.armed(10_000)
  world.clock.advance(10_000)
  expect((await call).structured).toMatchObject({ conversation, status: 'pending' })
  expect(world.posted).toMatchObject([{ conversation, author: 'owner', text: 'hi' }])
})

test.for<[object, RegExp]>([
  [{ agent: 'zoe', conversation: 'homelab/x' }, /zoe does not answer in homelab\/x; .*zoe\/<slug>/],
  [{ agent: 'zoe', conversation: 'family' }, /zoe does not answer in family/],
  [{ agent: 'nobody', conversation: 'homelab' }, /no agent nobody/],
])('%j is refused, and nothing is sent', async ([args, words]) => {
  await using world = await openChatTool()
  await expect(world.run(args)).rejects.toThrow(words)
  expect(world.posted).toEqual([])
})

test('a caller who goes away ends the wait, also while the message is written', async () => {
  const early = new AbortController()
  await using world = await openChatTool(() => early.abort())
  expect((await world.run({}, early.signal)).structured).toMatchObject({ status: 'pending' })
  const late = new AbortController()
  const call = world.run({ conversation: 'family' }, late.signal)
  await world.clock.armed(45_000, 1)
  late.abort()
  expect((await call).structured).toMatchObject({ status: 'pending' })
  expect(world.clock.timers).toBe(0)
})

test('of a reply that a limit cut the caller gets what there is, and why it was cut', async () => {
  await using world = await openChatTool()
  const { write, db } = world.store
  const call = world.run({ conversation: 'family' })
  await world.clock.armed(45_000)
  const asked = (await readMessages(db, 'family', 0, 1))[0]?.id ?? ''
  const said = { conversation: 'family', author: 'homelab', at: 0, cycle: 'cyc_1', inReplyTo: [asked] }
  await write(async tx => {
    await createCycle(tx, { id: 'cyc_1', thread_id: 'thr_a', fence: 1, reply_to: 'family', started_at: 0 })
    await drainItems(tx, 'thr_a', 'cyc_1')
    await appendMessage(tx, { ...said, id: 'msg_a', kind: 'agent', text: 'The disks' })
    await appendMessage(tx, { ...said, id: 'msg_b', kind: 'notice', text: 'I stopped after 1 minute.' })
    await endCycle(tx, 'cyc_1', { status: 'failed', at: 1 })
  })
  world.signals.emit('cycleEnded', { cycle: 'cyc_1', thread: 'thr_a' })
  expect((await call).structured).toMatchObject({
    status: 'failed',
    reply: 'The disks\n\nI stopped after 1 minute.',
  })
})
