import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openChat } from '../support/chat-client.ts'
import { LINES, openClient } from '../support/clients.ts'
import { INITIALIZE, mcpHeaders, send } from '../support/raw-http.ts'
import { AGENT, bearer, invite, make, signIn } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ agents: { homelab: AGENT(true) } })
})
afterAll(() => hub[Symbol.asyncDispose]())

const mcp = (path: string) => async (token: string | undefined) => {
  const { Authorization: _, ...headers } = mcpHeaders('')
  const request = { method: 'POST', headers: { ...headers, ...bearer(token) }, body: INITIALIZE }
  return (await send(`${hub.url}${path}`, request)).status
}

async function upgrade(token: string | undefined): Promise<number> {
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/ws`, 'superbloom.v1', {
    headers: bearer(token),
  })
  socket.on('error', () => undefined)
  const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => Number(statusCode))
  const status = await within('an answer', Promise.race([refused, once(socket, 'open').then(() => 101)]))
  socket.terminate()
  return status
}

test('a revoked token closes its sockets and streams at once, and opens nothing any more', async () => {
  const token = await make(hub, 'hub_create_token', { name: 'short', role: 'client' })
  using chat = await openChat({ url: hub.url, token })
  await chat.next('welcome')
  const begun = await send(`${hub.url}/mcp`, {
    method: 'POST',
    headers: mcpHeaders(token),
    body: INITIALIZE,
  })
  const headers = mcpHeaders(token, { 'Mcp-Session-Id': String(begun.headers['mcp-session-id']) })
  const stream = await fetch(`${hub.url}/mcp`, { headers: { ...headers, Accept: 'text/event-stream' } })
  expect(stream.status).toBe(200)
  const ended = stream.text().then(
    () => 'ended',
    () => 'cut',
  )
  const closed = once(chat.socket, 'close')
  await make(hub, 'hub_revoke_token', { which: 'short' })
  expect((await within('the socket closes', closed))[0]).toBe(4401)
  expect(['ended', 'cut']).toContain(await within('the stream ends', ended))
  expect(await mcp('/mcp')(token)).not.toBe(200)
})

test('an expired session ends what it holds open', async () => {
  await using other = await startTestHub()
  const token = await make(other, 'hub_create_token', { name: 'brief', role: 'client', expiresIn: '1s' })
  using chat = await openChat({ url: other.url, token })
  expect((await within('the socket closes', once(chat.socket, 'close')))[0]).toBe(4401)
})

test('revoking all ends everything, makes another token for the owner, and holds after a restart', async () => {
  await using other = await startTestHub({ agents: { homelab: AGENT(true) } })
  const before = other.token
  const anna = await signIn(other, await invite(other, 'anna', 'member'))
  using chat = await openChat({ url: other.url, token: anna })
  using own = await openChat(other)
  const closed = Promise.all([once(chat.socket, 'close'), once(own.socket, 'close')])
  const revoked = openClient(LINES[0], other).then(client => client.call('hub_revoke_token', { all: true }))
  // The caller's own answer may be cut off with the rest.
  await within(
    'the call ends',
    revoked.then(
      () => true,
      () => true,
    ),
  )
  await within('the sockets close', closed)
  const status = async (token: string) =>
    (await send(`${other.url}/mcp`, { method: 'POST', headers: mcpHeaders(token), body: INITIALIZE })).status
  expect(other.token).not.toBe(before)
  expect([await status(before), await status(anna), await status(other.token)]).toEqual([401, 401, 200])
  const after = other.token
  await other.stop()
  await other.start()
  expect(other.token).toBe(after)
  expect([await status(anna), await status(after)]).toEqual([401, 200])
})

test('of two devices that open one link at once, one is in', async () => {
  const link = await invite(hub, 'zoe', 'member')
  const answers = await Promise.all(
    [1, 2, 3].map(() => send(`${hub.url}/session`, { method: 'POST', headers: bearer(link) })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
})

test('a person who is removed is out; one whose role changes signs in anew', async () => {
  const session = await signIn(hub, await invite(hub, 'tim', 'member'))
  expect(await upgrade(session)).toBe(101)
  const again = await signIn(hub, await make(hub, 'hub_add_person', { name: 'tim', role: 'guest' }))
  expect([await upgrade(session), await upgrade(again)]).toEqual([expect.not.stringMatching('101'), 101])
  await make(hub, 'hub_remove_person', { name: 'tim' })
  expect(await upgrade(again)).not.toBe(101)
})
