import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openChat } from '../support/chat-client.ts'
import { runCli } from '../support/cli.ts'
import { openClient, textOf } from '../support/clients.ts'
import { INITIALIZE, mcpHeaders, send } from '../support/raw-http.ts'
import { AGENT, bearer, invite, make, signIn } from '../support/roles.ts'
import { server } from '../support/test-database.ts'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { within } from '../support/until.ts'

/** Secrets in the places where an operator puts them; each is unlike every other text. */
const PLANTED = {
  key: 'sk-plantedkey8f2a91c07d',
  header: 'plantedheader5b7710ee92',
  variable: 'plantedvariable19fd3c44',
  option: 'plantedoption2c8e51f9a0',
  login: 'plantedlogin93b7d6e1f4',
  address: 'plantedaddress8f02d7c6b1',
  hook: 'plantedhook77a0c3e1d2b5',
  argument: 'plantedargument40b9ee17',
  refresh: 'plantedrefresh51d0c8e27b',
  wrong: 'sb_plantedwrong66ad02f7',
}

const PRINTS_SECRETS = `for (const text of [process.env.API_TOKEN, process.argv[2], new URL(process.argv[3]).password]) {
  console.log(text)
  console.error(text)
}
process.exit(3)`

let hub: TestHub
let echo: Awaited<ReturnType<typeof openEcho>>
/** Tokens that the hub gave out: only their holders know them. */
const given: Record<string, string> = {}

/** Opens a server that refuses everything, and says every header that it got. */
async function openEcho() {
  const server = createServer((request: IncomingMessage, response) => {
    request.resume()
    const message = `Refused, with ${JSON.stringify(request.headers)}`
    response
      .writeHead(401, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ error: { message } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

beforeAll(async () => {
  echo = await openEcho()
  hub = await startTestHub({
    agents: { homelab: AGENT('[homelab]') },
    config: JSON.stringify({
      model: { default: { baseUrl: `${echo.url}/v1`, apiKey: PLANTED.key, model: 'none' } },
      servers: {
        metrics: false,
        shop: { url: `${echo.url}/shop` },
        locked: { url: `${echo.url}/mcp`.replace('//', `//user:${PLANTED.address}@`) },
        far: { url: `${echo.url}/mcp`, headers: { Authorization: `Bearer ${PLANTED.header}` } },
        near: {
          command: process.execPath,
          args: [
            '-e',
            PRINTS_SECRETS,
            '--',
            '--api-key',
            PLANTED.option,
            `postgres://me:${PLANTED.login}@db/x`,
          ],
          env: { API_TOKEN: PLANTED.variable },
        },
      },
      webhooks: { radarr: { secret: PLANTED.hook } },
    }),
    // An earlier version's login at a server, which the hub takes into the store.
    data: {
      'oauth/shop.json': JSON.stringify({
        url: `${echo.url}/shop`,
        client: { client_id: 'hub', issuer: echo.url },
        tokens: {
          access_token: 'none',
          token_type: 'Bearer',
          refresh_token: PLANTED.refresh,
          issuer: echo.url,
        },
      }),
    },
  })
  given['owner'] = hub.token
  given['session'] = await signIn(hub, await invite(hub, 'anna', 'member'))
  given['client'] = await make(hub, 'hub_create_token', { name: 'desk', role: 'client' })
  for (const server of ['far', 'near'])
    await hub.logs.find(`${server} fails`, entry => entry['server'] === server && entry.level === 'warn')
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await echo[Symbol.asyncDispose]()
})

/** Has the hub do what it does, and go wrong where it can; returns everything that it shows. */
async function shown(): Promise<string[]> {
  const texts: string[] = []
  using chat = await openChat({ url: hub.url, token: given['session'] ?? '' })
  await chat.subscribe('homelab', 0)
  const asked = await chat.say('homelab', 'hello')
  await chat.answerTo(asked, ['error', 'agent', 'notice'])
  const hook = { method: 'POST', headers: { 'X-Hub-Signature-256': PLANTED.wrong }, body: '{}' }
  texts.push((await send(`${hub.url}/hooks/radarr`, hook)).text)
  const right = { method: 'POST', headers: bearer(PLANTED.hook), body: '{"eventType":"Test"}' }
  expect((await send(`${hub.url}/hooks/radarr`, right)).status).toBe(202)
  const request = { method: 'POST', headers: mcpHeaders(PLANTED.wrong), body: INITIALIZE }
  texts.push((await send(`${hub.url}/mcp`, request)).text)
  await using client = await openClient('sdk 2, 2026-07-28', hub)
  const args = { type: 'planted', payload: { password: PLANTED.argument } }
  await client.call('hub_publish_event', args)
  await client
    .call('far__none', { token: PLANTED.argument })
    .catch((error: Error) => texts.push(error.message))
  for (const tool of [
    'hub_status',
    'hub_list_tokens',
    'hub_list_audit',
    'hub_list_agents',
    'hub_list_dead_letters',
  ])
    texts.push(textOf(await client.call(tool)), JSON.stringify(await client.call(tool)))
  const metrics = await send(`${hub.url}/metrics`, { headers: bearer(hub.token) })
  expect(metrics.status).toBe(200)
  texts.push(metrics.text, (await send(hub.url)).text)
  for (const words of [['config'], ['servers'], ['status'], ['audit', '--json'], ['tokens'], ['doctor']]) {
    const { stdout, stderr } = await runCli(words, { variables: hub.variables })
    texts.push(stdout, stderr)
  }
  hub.writeConfig('model: { default: { apiKey: [1] } }')
  await within(
    'the config is refused',
    hub.logs.find('it is refused', ({ event }) => event === 'config_refused'),
  )
  texts.push(
    ...chat.frames.all.map(frame => JSON.stringify(frame)),
    ...hub.logs.all.map(one => JSON.stringify(one)),
  )
  return texts
}

/** Returns the contents of all files below a folder by path. */
function filesBelow(folder: string): [path: string, bytes: Buffer][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap(path =>
    statSync(join(folder, path)).isFile() ? [[path, readFileSync(join(folder, path))]] : [],
  )
}

test('promise 10: no secret leaves its place: no text that the hub shows or logs, no file that it writes', async () => {
  const texts = await shown()
  const secrets = Object.entries({ ...PLANTED, ...given })
  const leaks = secrets.flatMap(([name, secret]) =>
    texts.filter(text => text.includes(secret)).map(text => `${name}: …${around(text, secret)}…`),
  )
  expect(leaks).toEqual([])
  const backup = join(hub.folder, 'backup.db')
  const { code } = await runCli(['backup', backup], { variables: hub.variables })
  expect(code).toBe(0)
  const files = [...filesBelow(hub.dataFolder), ['backup.db', readFileSync(backup)] as [string, Buffer]]
  expect(files.length).toBeGreaterThan(3)
  // What a client published is an event's payload: it stands where events do.
  const { argument: _, ...others } = { ...PLANTED, ...given }
  const found = Object.entries(others).flatMap(([name, secret]) =>
    files.filter(([, bytes]) => bytes.includes(secret)).map(([path]) => `${name} in ${path}`),
  )
  expect(found.sort()).toEqual([
    'owner in token',
    'refresh in oauth.moved/shop.json',
    ...(server === undefined ? ['refresh in superbloom.db'] : []),
  ])
})

function around(text: string, secret: string): string {
  const at = text.indexOf(secret)
  return text.slice(Math.max(0, at - 120), at + secret.length + 20)
}
