import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINES, openClient } from '../support/clients.ts'
import { Browser, createOAuthClient, createSignIn, type SignIn } from '../support/oauth-client.ts'
import { INITIALIZE, mcpHeaders, send } from '../support/raw-http.ts'
import { make } from '../support/roles.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startTestHub({ config: CONFIG })
})
afterAll(() => hub[Symbol.asyncDispose]())

const CONFIG = JSON.stringify({ servers: { metrics: false }, authorization: { issuer: 'own' } })

/** Signs a client in, whose owner says yes in a browser; returns the client. */
async function signIn(line: (typeof LINES)[number], given: SignIn) {
  const client = createOAuthClient(line, hub.url, given)
  await expect(client.connect()).rejects.toThrow(/unauthorized/i)
  const answer = await allow(String(given.kept.url))
  await client.finish(new URL(answer))
  await client.connect()
  return client
}

async function allow(url: string, browser = new Browser()): Promise<string> {
  const page = await browser.open(url)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Allow')])
  return (await browser.open(page.at, { token: hub.token, decision: 'allow' })).at
}

async function listed() {
  await using owner = await openClient(LINES[0], hub)
  const { structuredContent } = await owner.call('hub_list_tokens')
  return (structuredContent as { tokens: { name: string; kind: string; role: string }[] }).tokens
}

const status = async (token: string) =>
  (await send(`${hub.url}/mcp`, { method: 'POST', headers: mcpHeaders(token), body: INITIALIZE })).status

/** Begins a session and opens its stream. */
async function openStream(token: string): Promise<Response> {
  const begun = await send(`${hub.url}/mcp`, { method: 'POST', headers: mcpHeaders(token), body: INITIALIZE })
  const session = { 'Mcp-Session-Id': String(begun.headers['mcp-session-id']), Accept: 'text/event-stream' }
  return fetch(`${hub.url}/mcp`, { headers: mcpHeaders(token, session) })
}

describe.each(LINES)('%s signs in with OAuth', line => {
  test('is listed, refreshes, and is revoked at once', async () => {
    const name = `Claude ${LINES.indexOf(line)}`
    const given = createSignIn(name)
    await using client = await signIn(line, given)
    const tools = await client.listTools()
    expect(tools).toContain('hub_chat')
    expect(tools).not.toContain('hub_create_token')
    const token = `claude-${LINES.indexOf(line)}`
    expect(await listed()).toContainEqual(
      expect.objectContaining({ name: token, kind: 'grant', role: 'client' }),
    )
    // A token that nobody issued makes the client refresh.
    const first = given.kept.tokens
    given.kept.tokens = { ...first, access_token: 'nobodys', token_type: 'Bearer' }
    expect(await client.listTools()).toContain('hub_chat')
    expect(given.kept.tokens?.refresh_token).not.toBe(first?.refresh_token)
    const access = given.kept.tokens?.access_token ?? ''
    const stream = await openStream(access)
    expect(stream.status).toBe(200)
    const ended = stream.text().catch(() => 'cut')
    await make(hub, 'hub_revoke_token', { which: token })
    await within('the stream ends', ended)
    expect(await status(access)).toBe(401)
    await expect(client.listTools()).rejects.toThrow(/unauthorized/i)
  })
})
