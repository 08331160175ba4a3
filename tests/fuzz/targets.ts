import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type CallToolResult, isSpecType } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { toOutcome } from '../../hub/catalogue/outcome.ts'
import { readFrame } from '../../hub/channels/read-frame.ts'
import { parseAgentFile } from '../../hub/config/agent-files.ts'
import { parseYaml } from '../../hub/config/yaml-file.ts'
import { withoutNul } from '../../hub/core/json.ts'
import { serveMcp } from '../../hub/http/mcp-door.ts'
import { eraOf, readRaw, toView } from '../../hub/mcp/requests.ts'
import { toBatch } from '../../hub/runtime/batch.ts'
import { mapHook } from '../../hub/triggers/webhooks/map-hook.ts'
import { readBody } from '../../hub/triggers/webhooks/read-body.ts'
import { configFile } from '../../schemas/config.ts'
import type { InboxPayload } from '../../schemas/inbox.ts'
import { bodies, like, near, text } from './inputs.ts'
import { oauth } from './oauth.ts'
import { over, type Target } from './target.ts'

/** Bytes of a webhook's event, with room for the escapes of JSON. */
const LARGEST_EVENT = 16 * 1024
/** Matches what a reader may take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/
const NOWHERE = () => undefined

const MESSAGE = { type: 'message', conversation: 'homelab/a', text: 'hi', clientId: 'c1', images: [] }
const FRAMES = [
  MESSAGE,
  { type: 'subscribe', conversation: 'homelab', after: 3 },
  { type: 'decide', approval: 'apr_1', decision: 'approve', note: 'yes', always: '1d' },
  { type: 'stop', conversation: 'homelab', thread: 't' },
]
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const CALL = { name: 'look', arguments: { a: [1, { b: null }] }, _meta: META }
const REQUESTS = [
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL },
  { jsonrpc: '2.0', id: 'a', method: 'tools/list', params: { cursor: null, _meta: META } },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {} },
  },
]
const ALERT = {
  status: 'firing',
  labels: { alertname: 'Hot' },
  startsAt: '2026-01-01T00:00:00Z',
  fingerprint: 'f',
}
const HOOKS = [
  { version: '4', status: 'firing', groupKey: 'g', alerts: [ALERT, ALERT], truncatedAlerts: 1 },
  { eventType: 'Grab', movie: { id: 1, title: 'x' }, series: { id: 2 }, episodes: [{ id: 3 }] },
  { NotificationType: 'ItemAdded', ItemId: 'i', Name: 'n' },
]
const CONFIG = `timezone: Europe/Berlin
servers:
  files: { command: npx, args: [-y, "\${HOME}"], env: { A: b }, trust: own }
  remote: { url: "https://example/mcp", headers: { Authorization: "Bearer \${TOKEN:-x}" } }
tools: { approve: ["stop_*"], allow: [{ tools: [a], power: foreign }] }
budget: { tokensPerDay: 2000000 }
webhooks: { door: { secret: "0123456789abcdef", trusted: true } }
`
const AGENT = `---
description: Looks after the homelab
tools: ["*"]
events: [{ type: "webhook.*" }]
schedules: [{ cron: "0 7 * * *", reason: look }]
limits: { steps: 30 }
---

You look after the homelab.
`
const RESULTS = [
  {
    content: [
      { type: 'text', text: 'x' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///a', text: 't' } },
    ],
    structuredContent: { a: [1, 'two', { b: null }] },
    isError: false,
  },
]

/** The kinds of inputs that come from outside, in the order in which they are reported. */
export const targets: Readonly<Record<string, Target>> = {
  frames: {
    about: 'frames of a chat client',
    property: over(bodies(...FRAMES), data => {
      const read = readFrame(data as Buffer)
      if ('problem' in read) assert.ok(read.problem.message.length < 1_100)
      else assert.ok(JSON.stringify(read.frame).length < 8 * (data as Buffer).length + 1_000)
    }),
  },
  mcp: {
    about: 'requests at /mcp, until the official SDK takes over',
    property: over(
      fc.record({
        body: bodies(...REQUESTS),
        version: fc.constantFrom(undefined, '2025-06-18', '2026-07-28', '\u00ff'),
        method: fc.constantFrom(undefined, 'tools/call', 'tools/list'),
        session: fc.constantFrom(undefined, 's'),
        url: near('/mcp?tools=lean', '/mcp/kitchen').map(url => `/mcp${encodeURI(url.toWellFormed())}`),
      }),
      ask as (input: unknown) => Promise<void>,
    ),
  },
  webhooks: {
    about: 'bodies of webhooks',
    property: over(
      fc.record({
        body: fc.oneof(
          bodies(...HOOKS),
          text.map(one => Buffer.from(`payload=${encodeURIComponent(one.toWellFormed())}&a=1`)),
        ),
        name: fc.constantFrom('alertmanager', 'radarr', 'jellyfin', 'door', '__proto__'),
        type: fc.constantFrom(
          'application/json',
          'application/x-www-form-urlencoded',
          'text/plain',
          undefined,
        ),
      }),
      input => {
        const { body, name, type } = input as { body: Buffer; name: string; type: string | undefined }
        const mapped = mapHook(name, readBody(type, body), body)
        for (const { payload } of mapped) {
          const json = JSON.stringify(payload)
          assert.ok(json.length <= LARGEST_EVENT, `an event has ${json.length} characters`)
          assert.deepEqual(withoutNul(payload), payload, 'an event has a NUL')
        }
      },
    ),
  },
  config: {
    about: 'superbloom.yaml',
    property: over(near(CONFIG), given => {
      parseYaml({ file: 'superbloom.yaml', text: String(given) }, configFile, { environment: NOWHERE })
    }),
  },
  agents: {
    about: 'agent files',
    property: over(near(AGENT), given => {
      const { prompt } = parseAgentFile('homelab.md', String(given), NOWHERE, undefined)
      assert.ok(prompt.length > 0)
    }),
  },
  oauth,
  results: {
    about: 'results of tools and texts of others, as a model reads them',
    property: over(fc.record({ result: like(...RESULTS), words: text }), input => {
      const { result, words } = input as { result: unknown; words: string }
      const isResult = isSpecType.CallToolResult(result) && result.content !== undefined
      if (isResult) assert.ok(toOutcome(result as CallToolResult).text.length <= 60_100)
      assert.deepEqual(skeletonOf(words), skeletonOf('x'), 'a text looks like a part of the inbox')
    }),
  },
}

interface Asked {
  body: Buffer
  version: string | undefined
  method: string | undefined
  session: string | undefined
  url: string
}

async function ask({ body, version, method, session, url }: Asked): Promise<void> {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', url, complete: true })
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    accept: 'application/json, text/event-stream',
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
    ...(method === undefined ? {} : { 'mcp-method': method, 'mcp-name': 'look' }),
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  }
  request.headers = headers
  request.push(body)
  request.push(null)
  const caller = { id: 't', name: 'fuzz', role: 'client' as const }
  const deps = {
    doors: { checkNames: () => undefined, admit: () => caller },
    mayPass: () => true,
    hold: () => () => undefined,
  }
  await serveMcp({ ...deps, mcp: read } as never, request, new ServerResponse(request))
}

async function read(
  request: IncomingMessage & { url: string },
  _response: unknown,
  body: unknown,
): Promise<void> {
  assert.ok(typeof body === 'object' && body !== null)
  toView(request.url)
  const era = eraOf(request)
  const raw = era && readRaw(request, body, era)
  if (raw) assert.equal(typeof raw.params, 'object')
}

/** Returns the lines of an inbox with these words in it that quote nothing. */
function skeletonOf(words: string): string[] {
  const event = { id: 'e', type: 'webhook.x', source: 'webhook:x', key: 'k', payload: { words }, at: 0 }
  const payloads: InboxPayload[] = [
    { kind: 'agent', from: 'other', thread: 't', text: words, hops: 1 },
    { kind: 'event', event },
    { kind: 'notice', text: words },
    { kind: 'message', messageId: 'm', author: 'anna', conversation: 'homelab', text: words },
  ]
  const items = payloads.map((payload, seq) => ({
    seq,
    payload,
    power: 'foreign' as const,
    conversation: null,
    at: 0,
  }))
  const facts = { now: 0, timezone: 'UTC', replyTo: null, conversations: [], schedules: [], approvals: [] }
  return toBatch(items, facts)
    .text.split(LINE_END)
    .filter(line => !line.startsWith('>'))
}
