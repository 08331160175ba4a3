import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { callHub } from '../../hub/cli/call-hub.ts'
import type { HubOverrides } from '../../hub/hub.ts'
import { send } from './raw-http.ts'
import { startTestHub, type TestHub } from './test-hub.ts'

export const SECRET = 'a-secret-of-the-door-bell'
export const CONFIG = `servers: { metrics: false }\nwebhooks: { door: { secret: ${SECRET} }, plain: {} }\n`
export const AGENT = '---\nevents: ["webhook.*"]\n---\nYou look after the homelab.\n'

export interface Answer {
  accepted: boolean
  events: { id: string; status: string; repeated?: true }[]
}

export interface Listed {
  id: string
  source: string
  type: string
  key: string
  payload: Record<string, unknown>
  status: string
  routedTo: string[]
}

export const startHub = (agents?: Record<string, string>, overrides: HubOverrides = {}) =>
  startTestHub({ config: CONFIG, agents: agents ?? { homelab: AGENT }, overrides })
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
export const sign = (body: string, secret = SECRET) => ({
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

export function post(
  hub: { url: string },
  name: string,
  body: string | object,
  headers: Record<string, string> = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return send(`${hub.url}/hooks/${name}`, {
    method: 'POST',
    body: text,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

export async function deliver(
  hub: TestHub,
  name: string,
  body: string | object,
  headers: Record<string, string> = {},
) {
  const answer = await post(hub, name, body, { ...bearer(hub.token), ...headers })
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)])
  return answer.json as Answer
}

export async function listEvents(hub: { url: string; token: string }): Promise<Listed[]> {
  const { structured } = await callHub(hub, 'hub_list_events', { limit: 500 })
  return (structured as { events: Listed[] }).events
}

export const alertmanager = (status: string, over: object = {}) => ({
  receiver: 'superbloom',
  status,
  alerts: [
    {
      status,
      labels: { alertname: 'InstanceDown', instance: 'nas:9100' },
      annotations: { summary: 'nas is down' },
      startsAt: '2026-11-22T05:00:00Z',
      fingerprint: 'c0ffee',
      ...over,
    },
  ],
  groupLabels: { alertname: 'InstanceDown' },
  version: '4',
})
