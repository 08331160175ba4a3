import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type CrashHub, openCrashHub } from '../support/crash-hub.ts'
import { startPushService } from '../support/push-service.ts'
import { send } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

// Each test starts the hub three times.
vi.setConfig({ testTimeout: 180_000 })

const PROGRAM = join(import.meta.dirname, '..', 'fixtures', 'push-hub.ts')

const open = () =>
  openCrashHub({
    agent: '---\napprove: ["recorder__change"]\n---\nYou look after the homelab.\n',
    config: 'notify: { channel: page, private: true }\n',
    program: PROGRAM,
  })

/** Starts a hub that dies at a point, after a browser subscribed at it. */
async function startWith(hub: CrashHub, subscription: object, dieAt: { at: string; writing: string }) {
  await hub.start()
  const headers = { Authorization: `Bearer ${hub.token}` }
  const { json } = await send(`${hub.url}/session`, { method: 'POST', headers })
  const session = `Bearer ${(json as { token: string }).token}`
  const subscribed = await send(`${hub.url}/session/push`, {
    method: 'PUT',
    headers: { Authorization: session, 'Content-Type': 'application/json' },
    body: JSON.stringify(subscription),
  })
  expect(subscribed.status).toBe(204)
  await hub.kill()
  return hub.start(dieAt)
}

test.each([
  ['after the commit of an approval', 'after commit', 'insert into "notifications"', 1],
  ["after the commit of the button's key, before the send", 'after commit', 'insert into "approval_keys"', 1],
  // A browser shows the second one in place of the first, because of its tag.
  ['after the send, before its commit', 'before commit', 'update "notifications".*"sent"', 2],
  ['after the commit of the send', 'after commit', 'update "notifications".*"sent"', 1],
])(
  'promise 15: killed %s, the browser shows one notification and its button works',
  async (_when, at, writing, pushes) => {
    await using service = await startPushService()
    await using hub = await open()
    const say = ['homelab', 'please change n1', 'once'] as const
    const first = await startWith(hub, service.subscribe('phone'), { at, writing })
    // The hub may die before it confirms that it has the message.
    first.send({ type: 'message', conversation: say[0], text: say[1], clientId: say[2] })
    await hub.died()
    const chat = await hub.start()
    await chat.subscribe('homelab')
    await chat.say(...say)
    const states = () => hub.rows('select state, due_at from notifications')
    await until('the hub knows', () => JSON.stringify(states()) === '[{"state":"sent","due_at":null}]')
    expect(service.refusals).toEqual([])
    expect(service.pushes.all).toHaveLength(pushes)
    expect(new Set(service.pushes.all.map(({ message }) => message.tag)).size).toBe(1)
    expect(new Set(service.pushes.all.map(({ sender }) => sender)).size).toBe(1)
    const [approve] = service.pushes.all.at(-1)?.message.buttons ?? []
    if (!approve) throw new Error('It has no button')
    const url = new URL(approve.url, `${hub.url}/`).href
    expect((await send(url, { method: 'POST', body: approve.body })).status).toBe(200)
    await hub.called(1)
    await chat.next('message', ({ message }) => message.kind === 'tool' && message.text === 'change did n1')
    expect(hub.calls()).toHaveLength(1)
    await service.pushes.find('its end is told', ({ message }) => message.isOver === true)
  },
)

test('promise 15: killed after a decision, the browser is told at the next start what became of it', async () => {
  await using service = await startPushService()
  await using hub = await open()
  const chat = await startWith(hub, service.subscribe('phone'), {
    at: 'after commit',
    writing: 'update "approvals".*"denied"',
  })
  await chat.subscribe('homelab')
  await chat.say('homelab', 'please change n1')
  const { message: asked } = await service.pushes.find('it is asked', () => true)
  chat.send({ type: 'decide', approval: asked.tag, decision: 'deny' })
  await hub.died()
  await hub.start()
  const { message } = await service.pushes.find('its end is told', one => one.message.isOver === true)
  expect([message.tag, message.text]).toEqual([asked.tag, 'It is denied by owner.'])
})
