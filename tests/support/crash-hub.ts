import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type ChatClient, openChat } from './chat-client.ts'
import { type Program, startProgram } from './program.ts'
import { delta, line, refuse, SSE, serve } from './provider.ts'
import { readRows } from './read-rows.ts'
import { makeTempFolder } from './temp-store.ts'
import { makeDatabase, server } from './test-database.ts'
import { createRecord, until } from './until.ts'

const PROGRAM = fileURLToPath(new URL('../../hub/cli/superbloom.ts', import.meta.url))
const PRELOAD = new URL('../crash/die-at.mjs', import.meta.url).href
const TOKEN = 'a-token-for-the-crash-tests'

/**
 * A dropped-in server that records every call, then answers, or waits while a file `hold` is beside it. For
 * an id that begins with `asked-` it asks for a confirmation.
 */
const RECORDER = `import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
const here = import.meta.dirname
serveStdio(() => {
  const server = new McpServer({ name: 'recorder', version: '1.0.0' })
  const sure = inputRequired.elicit({ message: 'Really?', requestedSchema: { type: 'object', properties: {} } })
  const add = (name, annotations) =>
    server.registerTool(name, { description: name, inputSchema: z.object({ id: z.string() }), annotations }, async ({ id }, { mcpReq }) => {
      appendFileSync(join(here, 'calls.log'), [name, id, mcpReq._meta?.['superbloom/idempotencyKey']].join(' ') + '\\n')
      if (id.startsWith('asked-') && !mcpReq.inputResponses) return inputRequired({ inputRequests: { sure } })
      while (existsSync(join(here, 'hold'))) await setTimeout(10)
      return { content: [{ type: 'text', text: name + ' did ' + id }] }
    })
  add('change', {})
  add('look', { readOnlyHint: true })
  return server
})
`

const requestBody = z.object({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.looseObject({ id: z.string(), function: z.looseObject({ arguments: z.string() }) }))
        .default([]),
    }),
  ),
})
type Messages = z.infer<typeof requestBody>['messages']

/** Returns the results of a window's calls, by the ids in their arguments; the last of several. */
function resultsOf(messages: Messages): Map<string, string> {
  const made = new Map(
    messages.flatMap(({ tool_calls }) =>
      tool_calls.map(call => [call.id, (JSON.parse(call.function.arguments) as { id: string }).id]),
    ),
  )
  return new Map(
    messages.flatMap(({ role, tool_call_id = '', content }) =>
      role === 'tool' ? [[made.get(tool_call_id) ?? '', String(content)]] : [],
    ),
  )
}

interface Asked {
  what: string
  id: string
}

/**
 * Decides the calls: each request is carried out once; if its outcome is unknown, the model reads the state
 * instead of repeating.
 */
function decideCalls(asked: readonly Asked[], results: ReadonlyMap<string, string>): Asked[] {
  return asked.flatMap(({ what, id }) => {
    const result = results.get(id)
    if (what === 'answer' || (result !== undefined && !result.startsWith('Outcome unknown'))) return []
    return { what: result === undefined ? what : 'look', id }
  })
}

/** Decides the provider's reply to a window: it makes the requested calls, then reports their results. */
function decideChunks(body: string): object[] {
  const { messages } = requestBody.parse(JSON.parse(body))
  const last = messages.at(-1)
  if (last?.role === 'tool') {
    const end = messages.findLastIndex(({ role }) => role !== 'tool')
    const results = messages.slice(end + 1).map(({ content }) => String(content))
    return [delta({ content: `Done: ${results.join(' | ')}` }), delta({}, 'stop')]
  }
  const text = String(last?.content ?? '')
  const asked = [...text.matchAll(/^(?:> )?please (change|look|answer) (\S+)$/gm)].map(
    ([, what = '', id = '']) => ({ what, id }),
  )
  const calls = decideCalls(asked, resultsOf(messages))
  if (calls.length === 0) {
    return [
      delta({ content: 'Answered: ' }),
      delta({ content: asked.map(({ id }) => id).join(', ') }),
      delta({}, 'stop'),
    ]
  }
  const made = calls.map(({ what, id }, index) => ({
    index,
    id: `call_${what}_${id}`,
    type: 'function',
    function: { name: `recorder__${what}`, arguments: JSON.stringify({ id }) },
  }))
  return [delta({ tool_calls: made }), delta({}, 'tool_calls')]
}

/** Serves a provider on loopback; while `hold` is set, it stops after the first piece of each reply. */
async function serveProvider() {
  const state = { hold: false }
  const streaming = createRecord<string>()
  const provider = await serve((response: ServerResponse, body) => {
    // A request for the model's sizes has no body.
    if (body === '') return refuse(response, 404, { message: 'Not found' })
    const [first, ...rest] = decideChunks(body).map(line)
    response.writeHead(200, SSE).write(first)
    streaming.add(body)
    if (!state.hold) response.end([...rest, line('[DONE]')].join(''))
  })
  return { url: provider.url, state, streaming, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() }
}

export type CrashHub = Awaited<ReturnType<typeof openCrashHub>>

export interface CrashHubOptions {
  /** The file of its only agent. */
  agent?: string
  /** Further lines of `superbloom.yaml`. */
  config?: string
  /** Further environment variables. */
  variables?: Record<string, string>
  /** A program of the tests that runs the hub. */
  program?: string
}

/** Opens the real hub as a process that can be killed and restarted on the same folders. */
export async function openCrashHub({
  agent = 'You look after the homelab.\n',
  config = '',
  variables = {},
  program: path = PROGRAM,
}: CrashHubOptions = {}) {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(makeTempFolder())
  const provider = stack.use(await serveProvider())
  const data = join(folder.path, 'data')
  const database = server === undefined ? undefined : stack.use(await makeDatabase(server))
  const recorder = join(data, 'servers', 'recorder')
  mkdirSync(recorder, { recursive: true, mode: 0o700 })
  mkdirSync(join(folder.path, 'agents'))
  writeFileSync(join(recorder, 'server.mjs'), RECORDER)
  writeFileSync(join(folder.path, 'agents', 'homelab.md'), agent)
  writeFileSync(join(folder.path, 'superbloom.yaml'), `servers: { metrics: false }\n${config}`)
  const env = {
    SUPERBLOOM_CONFIG: join(folder.path, 'superbloom.yaml'),
    SUPERBLOOM_DATA: data,
    SUPERBLOOM_AGENTS: join(folder.path, 'agents'),
    SUPERBLOOM_PORT: '0',
    SUPERBLOOM_TOKEN: TOKEN,
    SUPERBLOOM_MODEL: 'scripted',
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'none',
    LOG_LEVEL: 'debug',
    ...(database ? { SUPERBLOOM_STORE: database.url } : {}),
    ...variables,
  }
  const { PATH, HOME } = process.env
  let life: { program: Program; chat: ChatClient; url: string } | undefined
  const end = async () => {
    life?.chat[Symbol.dispose]()
    await life?.program[Symbol.asyncDispose]()
    life = undefined
  }
  stack.defer(end)
  const calls = () =>
    existsSync(join(recorder, 'calls.log'))
      ? readFileSync(join(recorder, 'calls.log'), 'utf8').trimEnd().split('\n')
      : []
  const whole = stack.move()
  return {
    provider,
    /** Environment variables by which another process finds it. */
    variables: env,
    token: TOKEN,
    /** The running hub's address. */
    get url(): string {
      if (!life) throw new Error('The hub does not run')
      return life.url
    },
    /** Starts the hub and opens a chat; with `dieAt` it kills itself there (see die-at.mjs). */
    async start(dieAt?: { at: string; writing: string }): Promise<ChatClient> {
      const program = await startProgram(
        process.execPath,
        [...(dieAt ? ['--import', PRELOAD] : []), path, 'start'],
        { env: { ...env, ...(dieAt ? { DIE_AT: JSON.stringify(dieAt) } : {}) }, base: { PATH, HOME } },
      )
      const [, url = ''] = await program.says(/Open (http\S+)/)
      const chat = await openChat({ url, token: TOKEN })
      life = { program, chat, url }
      return chat
    },
    /** Resolves once the hub has killed itself. */
    async died() {
      await life?.program.ended
      await end()
    },
    /** Sends SIGKILL to the hub alone, as the system does when memory runs out. */
    async kill() {
      life?.program.signal('SIGKILL')
      await life?.program.ended
      await end()
    },
    /** Returns the calls that reached the server, as "tool id key". */
    calls,
    called: (count: number) => until(`${count} calls reach the server`, () => calls().length >= count),
    holdCalls: (hold: boolean) =>
      hold ? writeFileSync(join(recorder, 'hold'), '') : rmSync(join(recorder, 'hold'), { force: true }),
    /** Reads rows of the database; the hub must not run. */
    rows: <Row>(sql: string) => readRows<Row>({ dataFolder: data, url: database?.url }, sql),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  }
}
