import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startTestHub, type TestHub } from '../support/test-hub.ts'

/** The suite's assignment for a client, in environment variables that the relay passes on. */
export interface Assignment {
  scenario: string
  /** The address of the suite's server. */
  url: string
  /** The scenario's calls, if it names any. */
  toolCalls?: ToolCall[]
  /** The hub's client id at the authorization server, if the scenario gives one. */
  clientId?: string
  clientSecret?: string
  issuer?: string
}

interface ToolCall {
  name: string
  arguments: Record<string, unknown>
}

/** Milliseconds; the suite gives a scenario a minute, and these calls run one after the other. */
const CALL_MS = 15_000

/** Answers the relay: 200 if the hub succeeded, else 500 and the reason. Disposing stops it. */
export interface AssignmentServer extends AsyncDisposable {
  readonly url: string
}

/**
 * Starts a hub for each assignment, one after the other, because a scenario measures how fast a client
 * reconnects.
 */
export async function serveAssignments(): Promise<AssignmentServer> {
  let last: Promise<unknown> = Promise.resolve()
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const assignment = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Assignment
    const done = last.then(() => carryOut(assignment))
    last = done.catch(() => undefined)
    done.then(
      () => response.writeHead(200).end(),
      error => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * The address of the hub's client metadata document. The suite's authorization server recognises it without
 * reading it.
 */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json'

function toEntry({ url, scenario, clientId, clientSecret, issuer }: Assignment) {
  const oauth = {
    ...(clientId === undefined ? {} : { clientId, clientSecret, issuer }),
    ...(scenario === 'auth/basic-cimd' ? { clientId: CLIENT_DOCUMENT } : {}),
    ...(scenario.startsWith('auth/client-credentials') ? { grant: 'client_credentials' } : {}),
  }
  return { url, prefix: '', ...(Object.keys(oauth).length > 0 ? { oauth } : {}) }
}

/**
 * The hub connects to the suite's server by itself; a client of the hub makes the calls. It is a legacy
 * client, so that the hub itself must meet the 2026-07-28 requirements for clients.
 */
async function carryOut(assignment: Assignment): Promise<void> {
  const { toolCalls, scenario } = assignment
  const servers = { metrics: false, tested: toEntry(assignment) }
  await using hub = await startTestHub({ config: JSON.stringify({ servers }) })
  const logIn = createPerson(hub)
  await untilUsable(hub, logIn, 0)
  const client = new Client(
    { name: 'above', version: '1.0.0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} } },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content:
      params.mode === 'url' || !('confirmed' in params.requestedSchema.properties) ? {} : { confirmed: true },
  }))
  const headers = { Authorization: `Bearer ${hub.token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit: { headers } }),
  )
  try {
    await callTools(client, toolCalls, logIn)
    if (scenario === 'http-standard-headers') await readThings(client)
  } finally {
    await client.close()
  }
}

/** The hub's request for a login, in all its texts. */
const ASKS = /superbloom servers login tested/
const MOST_LOGINS = 3

/** Logs in as the command does, follows the browser's redirects, and waits until the server is usable. */
function createPerson(hub: TestHub): () => Promise<void> {
  let logins = 0
  const logIn = async () => {
    if (++logins > MOST_LOGINS) throw new Error('The hub asks for one login after the other')
    const from = hub.logs.all.length
    const response = await fetch(new URL('/oauth/logins', hub.url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${hub.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ server: 'tested' }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    const back = await fetch((JSON.parse(text) as { url: string }).url)
    if (!back.ok) throw new Error(await back.text())
    await untilUsable(hub, logIn, from)
  }
  return logIn
}

async function untilUsable(hub: TestHub, logIn: () => Promise<void>, from: number): Promise<void> {
  const { event, error } = await hub.logs.find(
    'the hub knows what became of the server',
    entry => entry['server'] === 'tested' && ['server_ready', 'server_down'].includes(entry.event),
    from,
  )
  if (event === 'server_ready') return
  if (!ASKS.test(String(error))) throw new Error(String(error))
  await logIn()
}

async function callTools(
  client: Client,
  given: ToolCall[] | undefined,
  logIn: () => Promise<void>,
): Promise<void> {
  const tools = (await client.listTools()).tools.filter(tool => !tool.name.startsWith('hub_'))
  const schema = tools.find(tool => tool.name === 'json_schema_2020_12_tool')?.inputSchema
  const args: Record<string, Record<string, unknown>> = {
    add_numbers: { a: 5, b: 3 },
    json_schema_echo: { schema },
  }
  const calls = given ?? tools.map(({ name }) => ({ name, arguments: args[name] ?? {} }))
  for (const call of calls) await callTool(client, call, logIn)
}

async function callTool(client: Client, call: ToolCall, logIn: () => Promise<void>): Promise<void> {
  const said = await client.callTool(call, { timeout: CALL_MS }).then(
    ({ isError, content }) => (isError ? JSON.stringify(content) : ''),
    error => {
      if (!ASKS.test(String(error))) throw error
      return String(error)
    },
  )
  if (!ASKS.test(said)) return
  await logIn()
  await callTool(client, call, logIn)
}

async function readThings(client: Client): Promise<void> {
  const { resources } = await client.listResources()
  const resource = resources.find(({ uri }) => /^(file|https):/.test(uri))
  if (resource) await client.readResource({ uri: resource.uri })
  const { prompts } = await client.listPrompts()
  const [prompt] = prompts
  if (prompt) await client.getPrompt({ name: prompt.name })
}
