import { expect, test } from 'vitest'
import { LINES, openClient } from '../support/clients.ts'
import { untilReady } from '../support/downstream.ts'
import { openOtlpReceiver } from '../support/otlp-receiver.ts'
import { startTestHub } from '../support/test-hub.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const SECRET_WORD = 'marzipan'

/** A server whose tool answers with the trace of the call. */
const ECHO = `import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
serveStdio(() => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' })
  server.registerTool('trace', { annotations: { readOnlyHint: true }, inputSchema: z.object({ word: z.string() }) }, (_args, { mcpReq }) => ({
    content: [{ type: 'text', text: 'trace=' + mcpReq._meta?.traceparent + ' state=' + mcpReq._meta?.tracestate }],
  }))
  return server
})
`

async function startTracedHub(receiver: { url: string }, variables: Record<string, string> = {}) {
  const hub = await startTestHub({
    data: { 'servers/echo/server.mjs': ECHO },
    variables: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...variables },
  })
  await untilReady(hub, 'echo')
  return hub
}

const MESSAGE = { message: `/call echo__trace {"word": "${SECRET_WORD}"}` }

test('one trace leads from a message of a client through cycle, steps and calls, and on to servers', async () => {
  await using receiver = await openOtlpReceiver()
  const hub = await startTracedHub(receiver)
  try {
    const response = await fetch(`${hub.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${hub.token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'hub_chat',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'hub_chat',
          arguments: MESSAGE,
          _meta: {
            traceparent: `00-${TRACE}-${SPAN}-01`,
            tracestate: 'vendor=1',
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    expect(await response.text()).toContain(`trace=00-${TRACE}-`)
    await hub.logs.find(
      'the end of the call',
      ({ event, tool }) => event === 'tool_called' && tool === 'hub_chat',
    )
  } finally {
    await hub[Symbol.asyncDispose]()
  }
  const all = receiver.spans.all
  const named = (name: string) => all.filter(span => span.name === name)
  const [called] = named('tools/call hub_chat')
  const [posted] = named('post message')
  const [cycle] = named('invoke_agent homelab')
  const [executed] = named('execute_tool echo__trace')
  expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
  expect(called).toMatchObject({
    parentSpanId: SPAN,
    kind: 'SPAN_KIND_SERVER',
    traceState: 'vendor=1',
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'hub_chat' },
  })
  expect(posted).toMatchObject({ parentSpanId: called?.spanId })
  expect(cycle).toMatchObject({
    parentSpanId: posted?.spanId,
    kind: 'SPAN_KIND_INTERNAL',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'homelab',
      'superbloom.steps': 2,
      'superbloom.outcome': 'done',
    },
  })
  expect(executed).toMatchObject({
    parentSpanId: cycle?.spanId,
    attributes: { 'gen_ai.operation.name': 'execute_tool' },
  })
  const steps = named('chat commands')
  expect(steps.map(({ parentSpanId, kind }) => [parentSpanId, kind])).toEqual(
    Array(2).fill([cycle?.spanId, 'SPAN_KIND_CLIENT']),
  )
  expect(steps.map(({ attributes }) => attributes['gen_ai.response.finish_reasons'])).toEqual([
    ['tool_call'],
    ['stop'],
  ])
  expect(receiver.text()).not.toContain(SECRET_WORD)
  const traced = hub.logs.all.filter(({ trace }) => trace === TRACE).map(({ event }) => event)
  expect(traced.toSorted()).toEqual(
    ['cycle_ended', 'model_called', 'model_called', 'tool_called', 'tool_called'].toSorted(),
  )
})

test('texts are in the spans where the operator switches that on', async () => {
  await using receiver = await openOtlpReceiver()
  const hub = await startTracedHub(receiver, {
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_only',
    OTEL_SERVICE_NAME: 'house',
  })
  try {
    await using client = await openClient(LINES[0], hub)
    await client.call('hub_chat', MESSAGE)
  } finally {
    await hub[Symbol.asyncDispose]()
  }
  const [first] = receiver.spans.all.filter(({ name }) => name === 'chat commands')
  const messages = JSON.parse(String(first?.attributes['gen_ai.input.messages']))
  expect(messages).toEqual([
    { role: 'user', parts: [{ type: 'text', content: expect.stringContaining(SECRET_WORD) }] },
  ])
  expect(JSON.parse(String(first?.attributes['gen_ai.output.messages']))).toMatchObject([
    { role: 'assistant', finish_reason: 'tool_call' },
  ])
  const [executed] = receiver.spans.all.filter(({ name }) => name === 'execute_tool echo__trace')
  expect(executed?.attributes['gen_ai.tool.call.arguments']).toContain(SECRET_WORD)
})

test('a collector that is away is reported once, without its password, and keeps nothing waiting', async () => {
  const hub = await startTracedHub({ url: 'http://me:hunter2@127.0.0.1:9' })
  try {
    await using client = await openClient(LINES[0], hub)
    const { isError } = await client.call('hub_chat', MESSAGE)
    expect(isError).toBeFalsy()
  } finally {
    await hub[Symbol.asyncDispose]()
  }
  const reports = hub.logs.all.filter(({ event }) => event === 'traces_not_sent')
  expect(reports).toMatchObject([{ url: 'http://127.0.0.1:9/v1/traces' }])
  expect(JSON.stringify(hub.logs.all)).not.toContain('hunter2')
})
