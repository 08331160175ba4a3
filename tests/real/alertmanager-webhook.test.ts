import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { startTestHub, type TestHub } from '../support/test-hub.ts'
import { until } from '../support/until.ts'
import { listEvents, SECRET } from '../support/webhooks.ts'
import { freePort, startAlertmanager, startPrometheus } from './setup/alertmanager.ts'

// Prometheus first reads a new target after some seconds.
vi.setConfig({ testTimeout: 90_000 })

const LONG = { within: 60_000 }

const startHub = (variables: Record<string, string> = {}) =>
  startTestHub({
    config: `servers: { metrics: false }\nwebhooks: { alertmanager: { secret: ${SECRET} } }\n`,
    agents: {
      homelab:
        '---\nevents: [{ type: webhook.alertmanager, match: { "alerts.labels.alertname": "Instance*" } }]\n---\nYou are.\n',
    },
    variables,
  })
const hookOf = (hub: TestHub) => ({ url: `${hub.url}/hooks/alertmanager`, secret: SECRET })
const down = (instance: string) => ({ labels: { alertname: 'InstanceDown', instance } })
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

/** Returns the stored events as "status instance: the event's status", sorted. */
async function told(hub: TestHub): Promise<string[]> {
  const lines = (await listEvents(hub)).map(({ payload, status }) => {
    const { alerts } = payload as { alerts: [{ labels: { instance: string } }] }
    return `${payload['status']} ${alerts[0].labels.instance}: ${status}`
  })
  return lines.toSorted()
}

test('firing and resolved alerts are told once each, though their group is sent again and again', async () => {
  await using hub = await startHub()
  await using alertmanager = await startAlertmanager(hookOf(hub))
  await alertmanager.post(down('nas'), { labels: { alertname: 'DiskFull', instance: 'nas' } })
  await until('both are told', async () => (await told(hub)).length === 2)
  await alertmanager.post(down('router'))
  await until('the third is told', async () => (await told(hub)).length === 3)
  await alertmanager.post({ ...down('nas'), endsAt: minutesAgo(0) })
  await until('its end is told', async () => (await told(hub)).length === 4)
  await until(
    'all are handled',
    async () => (await told(hub)).filter(line => /handled/.test(line)).length === 3,
  )
  expect(await told(hub)).toEqual([
    'firing nas: handled',
    'firing nas: ignored',
    'firing router: handled',
    'resolved nas: handled',
  ])
  const taken = hub.logs.all.filter(({ event }) => event === 'webhook_taken')
  expect(taken.flatMap(({ events }) => events as string[]).length).toBeGreaterThan(4)
})

test('what fires while the hub is away is told when it is back', async () => {
  await using hub = await startHub({ SUPERBLOOM_PORT: String(await freePort()) })
  await using alertmanager = await startAlertmanager(hookOf(hub))
  await hub.stop()
  await alertmanager.post(down('nas'))
  await until('Alertmanager has tried in vain', async () => {
    const metrics = await (await fetch(`http://${alertmanager.address}/metrics`)).text()
    return /alertmanager_notification_requests_failed_total\{integration="webhook"\} [1-9]/.test(metrics)
  })
  await hub.start()
  await until('it is told', async () => (await told(hub)).includes('firing nas: handled'), LONG)
})

test('with a wrong secret nothing comes in', async () => {
  await using hub = await startHub()
  await using alertmanager = await startAlertmanager({ ...hookOf(hub), secret: 'not-the-secret-of-the-hook' })
  await alertmanager.post(down('nas'))
  await until('Alertmanager was refused', async () => {
    const metrics = await (await fetch(`http://${alertmanager.address}/metrics`)).text()
    return /alertmanager_notifications_failed_total\{integration="webhook"[^}]*\} [1-9]/.test(metrics)
  })
  expect(await told(hub)).toEqual([])
})

test('a target of Prometheus goes down and comes back', async () => {
  await using hub = await startHub()
  await using alertmanager = await startAlertmanager(hookOf(hub))
  let isUp = false
  const target = createServer((_request, response) => {
    response.writeHead(isUp ? 200 : 503, { 'Content-Type': 'text/plain' }).end('nas_up 1\n')
  })
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  try {
    const address = `127.0.0.1:${(target.address() as AddressInfo).port}`
    await using _prometheus = await startPrometheus(address, alertmanager.address)
    await until('it is told', async () => (await told(hub)).includes(`firing ${address}: handled`), LONG)
    isUp = true
    await until(
      'its end is told',
      async () => (await told(hub)).includes(`resolved ${address}: handled`),
      LONG,
    )
    const [event] = await listEvents(hub)
    expect(event?.payload).toMatchObject({
      status: 'resolved',
      version: '4',
      alerts: [{ annotations: { summary: `${address} is down` }, labels: { severity: 'page', job: 'nas' } }],
    })
  } finally {
    target.closeAllConnections()
    target.close()
  }
})
