import { expect, test, vi } from 'vitest'
import { startNtfy } from '../../hub/demo/ntfy.ts'
import { openCrashHub } from '../support/crash-hub.ts'
import { PHONE_HOST, press } from '../support/phone-hub.ts'
import { until } from '../support/until.ts'

// Each test starts the hub twice.
vi.setConfig({ testTimeout: 120_000 })

test.each([
  ['before the commit of an approval', 'before commit', 'insert into "notifications"'],
  ['after the commit of an approval', 'after commit', 'insert into "notifications"'],
  ["before the commit of the button's key", 'before commit', 'insert into "approval_keys"'],
  ["after the commit of the button's key, before the send", 'after commit', 'insert into "approval_keys"'],
  ['after the send, before its commit', 'before commit', 'update "notifications".*"sent"'],
  ['after the commit of the send', 'after commit', 'update "notifications".*"sent"'],
])('promise 15: killed %s, the phone is told once and its button works', async (_when, at, writing) => {
  await using ntfy = await startNtfy()
  await using hub = await openCrashHub({
    agent: '---\napprove: ["recorder__change"]\n---\nYou look after the homelab.\n',
    config: 'notify: { channel: ntfy, private: true }\n',
    variables: { NTFY_URL: `${ntfy.url}/phone`, SUPERBLOOM_PUBLIC_URL: `http://${PHONE_HOST}` },
  })
  const say = ['homelab', 'please change n1', 'once'] as const
  const first = await hub.start({ at, writing })
  // The hub may die before it confirms that it has the message.
  first.send({ type: 'message', conversation: say[0], text: say[1], clientId: say[2] })
  await hub.died()
  const chat = await hub.start()
  await chat.subscribe('homelab')
  await chat.say(...say)
  await until('the phone is told', () => ntfy.published.length > 0)
  const states = () => hub.rows('select state, due_at from notifications')
  await until('the hub knows', () => JSON.stringify(states()) === '[{"state":"sent","due_at":null}]')
  const [told, ...more] = ntfy.published
  expect(more).toEqual([])
  const [approve] = told?.actions ?? []
  if (!approve) throw new Error('It has no button')
  expect((await press(hub, approve)).status).toBe(200)
  await hub.called(1)
  expect((await press(hub, approve)).status).toBe(404)
  await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'change did n1')
  expect(hub.calls()).toHaveLength(1)
  expect(hub.rows('select * from approval_keys')).toEqual([])
})

test.each([
  ['before the commit of the decision', 'before commit', 'update "approvals".*"denied"'],
  ['after the commit of the decision', 'after commit', 'update "approvals".*"denied"'],
  ['before the commit of the removal', 'before commit', 'update "notifications" set "state".*"sent"'],
  ['after the commit of the removal', 'after commit', 'update "notifications" set "state".*"sent"'],
])(
  'promise 15: killed %s, what was answered goes from the phone, and nothing is sent twice',
  async (_when, at, writing) => {
    await using ntfy = await startNtfy()
    await using hub = await openCrashHub({
      agent: '---\napprove: ["recorder__change"]\n---\nYou look after the homelab.\n',
      config: 'notify: { channel: ntfy, about: [approvals] }\n',
      variables: { NTFY_URL: `${ntfy.url}/phone` },
    })
    const states = () =>
      JSON.stringify(hub.rows("select state, due_at from notifications where about = 'approvals'"))
    const untilSent = () => until('the hub knows', () => states() === '[{"state":"sent","due_at":null}]')
    const asking = await hub.start()
    await asking.subscribe('homelab')
    await asking.say('homelab', 'please change n1', 'once')
    const { approval } = await asking.next('approval')
    await untilSent()
    await hub.kill()
    const deciding = await hub.start({ at, writing })
    const decision = { type: 'decide', approval: approval.id, decision: 'deny' } as const
    deciding.send(decision)
    await hub.died()
    const chat = await hub.start()
    chat.send(decision)
    await until('it goes', () => ntfy.removed.length > 0)
    await untilSent()
    const [told, ...more] = ntfy.published
    expect(more).toEqual([])
    expect(ntfy.removed).toEqual([`/phone/${told?.sequence_id}`])
  },
)
