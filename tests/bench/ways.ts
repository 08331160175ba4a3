import { once } from 'node:events'
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type ChatClient, openChat } from '../support/chat-client.ts'
import { openClient, type TestClient } from '../support/clients.ts'
import { odd, untilReady } from '../support/downstream.ts'
import { startTestHub } from '../support/test-hub.ts'

const AGENT = '---\napprove: ["odd__sw*"]\n---\nYou look after the homelab.\n'
const OURS = /\/(hub|schemas)\/.*\.ts$/
/** Passes of a way before the one that is counted, so that what runs once only is not counted. */
const WARM_UP = 2

/** Milliseconds in which what follows a pass comes to an end. */
const SETTLE_MS = 500
/** Milliseconds until a schedule is due, more than its creation and the settling take. */
const DUE_MS = 2_000

interface Way {
  name: string
  /** Makes what the pass needs; the pass is not counted yet. */
  prepare?: () => Promise<void>
  pass: () => Promise<unknown>
}

type Delta = { content: string } | { tool_calls: object[] }

/** Opens a provider that answers each request with the next of `replies`, or else with "ok". */
async function openProvider() {
  const replies: Delta[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.writeHead(404).end()
    for await (const _ of request);
    const delta = replies.shift() ?? { content: 'ok' }
    const chunk = (part: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: part, finish_reason }] })}\n\n`
    const finish = 'content' in delta ? 'stop' : 'tool_calls'
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.end(`${chunk(delta, null)}${chunk({}, finish)}data: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    say: (content: string) => replies.push({ content }),
    callTool: (name: string, args: object) =>
      replies.push({
        tool_calls: [{ index: 0, id: 'call_1', function: { name, arguments: JSON.stringify(args) } }],
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Counts the functions of ours that run from one `take` to the next, by V8's precise coverage. */
async function openCounter() {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take(): Promise<{ files: number; functions: number }> {
      const { result } = await session.post('Profiler.takePreciseCoverage')
      const ran = result
        .filter(({ url }) => OURS.test(url) && !url.includes('/node_modules/'))
        .map(({ functions }) => functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length)
        .filter(count => count > 0)
      return { files: ran.length, functions: ran.reduce((sum, count) => sum + count, 0) }
    },
    [Symbol.dispose]: () => session.disconnect(),
  }
}

/** Counts the files and functions of the hub that one warm pass of each way runs through. */
export async function ways(): Promise<Record<string, number>> {
  using counter = await openCounter()
  await using provider = await openProvider()
  await using hub = await startTestHub({
    config: JSON.stringify({ servers: { metrics: false, odd: odd().entry } }),
    agents: { homelab: AGENT },
    variables: { SUPERBLOOM_MODEL: 'm', SUPERBLOOM_MODEL_CONTEXT: '65536', OPENAI_BASE_URL: provider.url },
  })
  await untilReady(hub, 'odd')
  using chat = await openChat(hub)
  await chat.subscribe('homelab')
  await using client = await openClient('sdk 2, 2026-07-28', { url: `${hub.url}/mcp`, token: hub.token })
  const figures: Record<string, number> = {}
  for (const { name, prepare, pass } of createWays({ provider, chat, client })) {
    let ran = { files: 0, functions: 0 }
    for (let count = 0; count <= WARM_UP; count++) {
      await prepare?.()
      await setTimeout(SETTLE_MS)
      await counter.take()
      await pass()
      ran = await counter.take()
    }
    figures[`${name}: files`] = ran.files
    figures[`${name}: functions`] = ran.functions
  }
  return figures
}

interface Doors {
  provider: Awaited<ReturnType<typeof openProvider>>
  chat: ChatClient
  client: TestClient
}

function createWays({ provider, chat, client }: Doors): Way[] {
  let made = 0
  let approval = ''
  const requestApproval = async () => {
    const any = `n${++made}`
    provider.callTool('odd__swallow', { any })
    await chat.say('homelab', 'swallow it')
    const frame = await chat.next('approval', one => one.approval.arguments['any'] === any)
    approval = frame.approval.id
  }
  const untilReply = (text: string) => chat.next('message', ({ message }) => message.text === text)
  let due = ''
  return [
    {
      name: 'message, from its frame to the stored reply',
      pass: async () => chat.answerTo(await chat.say('homelab', 'how is it?')),
    },
    { name: 'call, from /mcp to a stdio server and back', pass: () => client.call('odd__pid') },
    { name: 'approval, from the message to the request', pass: requestApproval },
    {
      name: 'approval, from the decision to the reply of the agent',
      prepare: requestApproval,
      async pass() {
        const text = `done ${++made}`
        provider.say(text)
        chat.send({ type: 'decide', approval, decision: 'approve' })
        await untilReply(text)
      },
    },
    {
      name: 'schedule, from its time to the reply',
      async prepare() {
        due = `due ${++made}`
        provider.say(due)
        const at = new Date(Date.now() + DUE_MS).toISOString()
        await client.call('hub_create_schedule', { at, reason: due })
      },
      pass: () => untilReply(due),
    },
  ]
}
