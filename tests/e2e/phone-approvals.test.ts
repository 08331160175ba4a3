import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ntfy, startNtfy } from '../../hub/demo/ntfy.ts'
import { BUTTONS, REPLACES } from '../../schemas/message-buttons.ts'
import { openChat } from '../support/chat-client.ts'
import { openClient } from '../support/clients.ts'
import { askForSwallow, PHONE_HOST, press, startPhoneHub } from '../support/phone-hub.ts'
import { mcpHeaders, rpc, send } from '../support/raw-http.ts'
import { readRows } from '../support/read-rows.ts'
import { invite } from '../support/roles.ts'
import { until } from '../support/until.ts'

let ntfy: Ntfy
let lab: Awaited<ReturnType<typeof startPhoneHub>>
beforeAll(async () => {
  ntfy = await startNtfy()
  lab = await startPhoneHub({ channel: { kind: 'ntfy', url: `${ntfy.url}/phone` } })
})
afterAll(async () => {
  await lab[Symbol.asyncDispose]()
  await ntfy[Symbol.asyncDispose]()
})

let asked = 0
/** Asks for a call; resolves with its approval and the buttons that the phone shows. */
async function ask(more: Record<string, unknown> = {}) {
  const approval = await askForSwallow(lab.hub, { any: `n${++asked}`, ...more })
  const message = await until('the phone shows it', () =>
    ntfy.published.find(one => one.message.includes(`"n${asked}"`)),
  )
  const [approve, deny] = message.actions ?? []
  if (!approve || !deny) throw new Error('It has no buttons')
  return { approval, message, approve, deny }
}

const read = async (id: string) => {
  await using client = await openClient('sdk 1', lab.hub)
  const { structuredContent } = await client.call('hub_list_approvals', {})
  const { approvals } = structuredContent as { approvals: { id: string; status: string }[] }
  return approvals.find(one => one.id === id)
}

test('promise 15: an approval is told on the phone, and its button runs the call once', async () => {
  using chat = await openChat(lab.hub)
  await chat.subscribe('homelab')
  const { approval, message, approve } = await ask({ text: '[a](http://evil)\n\n# **b** `c` \u202e' })
  expect(message).toMatchObject({ topic: 'phone', title: 'homelab asks for odd__swallow' })
  const paragraphs = message.message.split('\n\n')
  expect(paragraphs).toEqual([
    `homelab wants to call \`odd__swallow\` with \`{"any":"n${asked}","text":"[a](http://evil)\\n\\n# **b** \\u0060c\\u0060 \\u202e"}\``,
    'Why a person decides: `approve in agents/homelab.md lists it`',
    expect.stringMatching(/^It expires on \w{3} \d{4}-\d\d-\d\d \d\d:\d\d \(.+\)\.$/),
    `http://${PHONE_HOST}/#c=homelab`,
  ])
  expect(message.actions).toMatchObject([
    { action: 'http', label: 'Approve', method: 'POST', clear: true },
    { action: 'http', label: 'Deny', method: 'POST', clear: true },
  ])
  // The page of ntfy sends its own origin.
  const pressed = await press(lab.hub, approve, { Origin: 'https://ntfy.sh' })
  expect(pressed).toMatchObject({ status: 200, text: 'odd__swallow is approved.\n' })
  expect(pressed.headers['access-control-allow-origin']).toBe('*')
  await chat.next('message', ({ message: one }) => one.kind === 'tool' && one.text === 'swallowed')
  expect(await read(approval.id)).toMatchObject({
    status: 'approved',
    decidedBy: 'owner',
    decidedWhere: 'button',
  })
  expect((await press(lab.hub, approve)).status).toBe(404)
  const runs = chat.messages.filter(({ kind, text }) => kind === 'tool' && text === 'swallowed')
  expect(runs).toHaveLength(1)
  await using client = await openClient('sdk 1', lab.hub)
  const { structuredContent } = await client.call('hub_list_audit', {})
  const { rows } = structuredContent as { rows: Record<string, unknown>[] }
  expect(rows).toContainEqual(
    expect.objectContaining({ actor: 'owner', door: 'button', outcome: 'approved', tool: 'odd__swallow' }),
  )
})

test('a call that is not shown whole has no buttons', async () => {
  await askForSwallow(lab.hub, { any: `n${++asked}`, text: 'x'.repeat(700) })
  const message = await until('the phone shows it', () =>
    ntfy.published.find(one => one.message.includes(`"n${asked}"`)),
  )
  expect(message.message).toMatch(/x… \(\d+ more characters\)`/)
  expect(message.actions ?? []).toEqual([])
})

test('deny means that it never runs, and then approve is over', async () => {
  const { approval, approve, deny } = await ask()
  expect(await press(lab.hub, deny)).toMatchObject({ status: 200, text: 'odd__swallow is denied.\n' })
  expect((await press(lab.hub, approve)).status).toBe(404)
  expect(await read(approval.id)).toMatchObject({ status: 'denied' })
})

test('promise 15: an approval that was decided elsewhere goes from the phone, and is not told again', async () => {
  const { approval, message } = await ask()
  using chat = await openChat(lab.hub)
  chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
  await until('it goes', () => ntfy.removed.includes(`/phone/${message.sequence_id}`))
  const { sequence_id: key } = message
  expect(ntfy.published.filter(one => one.sequence_id === key)).toHaveLength(1)
})

test('of two presses at once one decides', async () => {
  const { approve, deny } = await ask()
  const all = await Promise.all([approve, deny, approve, deny].map(one => press(lab.hub, one)))
  expect(all.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
})

test('what the page decided first stays, and the button says that it is over', async () => {
  const { approval, approve } = await ask()
  using chat = await openChat(lab.hub)
  chat.send({ type: 'decide', approval: approval.id, decision: 'deny' })
  await chat.next('approval', one => one.approval.id === approval.id && one.approval.status === 'denied')
  const over = await press(lab.hub, approve)
  const unknown = await press(lab.hub, { ...approve, url: approve.url.replace(/sba_.*/, 'sba_unknown') })
  expect([over.status, over.json]).toEqual([404, unknown.json])
  expect(await read(approval.id)).toMatchObject({ status: 'denied', decidedWhere: '/ws' })
})

test('looking at the address, another host or another answer decide nothing', async () => {
  const { approval, approve } = await ask()
  for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
    const looked = await press(lab.hub, { url: approve.url, method })
    expect([method, looked.status, looked.headers['allow']]).toEqual([method, 405, 'POST'])
  }
  expect((await press(lab.hub, approve, { Host: 'evil.example' })).status).toBe(403)
  const upper = { ...approve, url: approve.url.replace('/a/', '/A/') }
  expect((await press(lab.hub, { ...upper, body: '{' }, { Origin: 'https://ntfy.sh' })).status).toBe(400)
  for (const body of ['', 'approve', '{"decision":"perhaps"}', 'x'.repeat(5_000)]) {
    expect([400, 413]).toContain((await press(lab.hub, { ...approve, body })).status)
  }
  expect(await read(approval.id)).toMatchObject({ status: 'open' })
  expect((await press(lab.hub, approve)).status).toBe(200)
})

test('the key of a button is nowhere but on the phone', async () => {
  const { approval, approve } = await ask()
  const isSent = (entry: { event: string; id?: unknown }) =>
    entry.event === 'notification_sent' && entry.id === approval.id
  await lab.hub.logs.find('the hub knows that it is sent', isSent)
  await press(lab.hub, { ...approve, body: '{' })
  const [key = 'none'] = /sba_[\w-]+/.exec(approve.url) ?? []
  expect(key.length).toBeGreaterThan(40)
  const texts = [lab.outbox, lab.hub.dataFolder].flatMap(folder =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(file => file.isFile())
      .map(file => readFileSync(join(file.parentPath, file.name), 'latin1')),
  )
  await using client = await openClient('sdk 1', lab.hub)
  const history = await client.call('get_notification_history', {})
  texts.push(JSON.stringify(lab.hub.logs.all), JSON.stringify(history))
  expect(texts.filter(text => text.includes(key))).toEqual([])
  expect(texts.some(text => text.includes('POST /a/'))).toBe(false)
})

test('no client makes buttons, or replaces messages: the hub does not pass these on', async () => {
  const button = { label: 'Win', url: 'https://evil.example/', body: '' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
    [BUTTONS]: [button],
    [REPLACES]: true,
  }
  const params = { name: 'send_notification', arguments: { message: 'you won' }, _meta }
  const body = rpc('tools/call', params)
  const headers = mcpHeaders(lab.hub.token, {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'send_notification',
  })
  const answer = await send(`${lab.hub.url}/mcp`, { method: 'POST', headers, body })
  expect(answer.text).toContain('Sent on phone')
  const sent = ntfy.published.find(({ message }) => message === 'you won')
  expect(sent).toBeDefined()
  expect(sent).not.toHaveProperty('actions')
})

test.each([
  ['a channel that is not private', { notify: { channel: 'phone' } }],
  ['a public address of this machine', { publicUrl: 'http://localhost:8420' }],
  ['no public address', { publicUrl: '' }],
])('%s: the phone is told, without buttons', async (_case, more) => {
  const topic = `t${++asked}`
  await using other = await startPhoneHub({ channel: { kind: 'ntfy', url: `${ntfy.url}/${topic}` }, ...more })
  await askForSwallow(other.hub, { any: 'x' })
  const told = await until('the phone is told', () => ntfy.published.find(one => one.topic === topic))
  expect(told.message).toContain('homelab wants to call')
  expect(told).not.toHaveProperty('actions')
})

test('who guesses keys waits, and the right key works all the same', async () => {
  const topic = `t${++asked}`
  await using other = await startPhoneHub({ channel: { kind: 'ntfy', url: `${ntfy.url}/${topic}` } })
  await askForSwallow(other.hub, { any: 'x' })
  const told = await until('the phone is told', () => ntfy.published.find(one => one.topic === topic))
  const guess = { url: `http://${PHONE_HOST}/a/sba_guess`, body: '{"decision":"approve"}' }
  const statuses: number[] = []
  for (let tries = 0; tries < 12; tries++) statuses.push((await press(other.hub, guess)).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([404, 429])
  const [, deny] = told.actions ?? []
  expect(deny && (await press(other.hub, deny)).status).toBe(200)
})

test('a channel that is not there is told by the status, and by the log when something is due', async () => {
  await using other = await startPhoneHub({
    channel: { kind: 'ntfy', url: `${ntfy.url}/other` },
    notify: { channel: 'watch' },
  })
  await using client = await openClient('sdk 1', other.hub)
  const why = 'the notifications server has no channel watch; it has phone'
  const { structuredContent } = await client.call('hub_status', {})
  expect((structuredContent as { problems: string[] }).problems).toEqual([
    `notify in superbloom.yaml: ${why}`,
  ])
  await askForSwallow(other.hub, { any: 'x' })
  const logged = await other.hub.logs.find('the log', ({ event }) => event === 'notification_not_sent')
  expect(logged).toMatchObject({ level: 'warn', channel: 'watch', again: true, error: why })
})

test('what an agent says by itself is told, but not while the owner looks at it, nor what is for somebody else', async () => {
  using chat = await openChat(lab.hub)
  await chat.subscribe('homelab')
  const toldOf = (words: string) => ntfy.published.filter(({ message }) => message.includes(words))
  const remind = async (words: string, conversation = 'homelab') => {
    await chat.say(conversation, `/remind in 3 seconds ${words}`)
    await chat.next(
      'message',
      ({ message }) => message.kind === 'agent' && message.text.includes(`${words}`) && !message.inReplyTo,
    )
  }
  await remind('feed the cat')
  await until('it is told', () => toldOf('feed the cat').length > 0)
  expect(toldOf('feed the cat')).toMatchObject([{ title: 'homelab' }])
  chat.send({ type: 'look', conversation: 'homelab' })
  await remind('water the plants')
  const due = () => readRows(lab.hub.stored, 'select id from notifications where due_at is not null')
  await until('nothing is left to tell', () => due().length === 0)
  chat.send({ type: 'look', conversation: null })
  await invite(lab.hub, 'anna', 'member')
  await chat.subscribe('homelab/anna')
  await remind('paint the fence', 'homelab/anna')
  await remind('call mum')
  await until('it is told', () => toldOf('call mum').length > 0)
  expect(toldOf('paint the fence')).toEqual([])
  expect(toldOf('water the plants')).toEqual([])
})
