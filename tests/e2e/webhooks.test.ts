import { expect, test } from 'vitest'
import { callHub } from '../../hub/cli/call-hub.ts'
import { openCrashHub } from '../support/crash-hub.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  alertmanager,
  bearer,
  CONFIG,
  deliver,
  listEvents,
  post,
  SECRET,
  startHub,
} from '../support/webhooks.ts'

test('a delivery is an event that wakes who lists it, and hub_list_events shows it as it came', async () => {
  await using hub = await startHub()
  const body = alertmanager('firing')
  const { accepted, events } = await deliver(hub, 'alertmanager', body)
  expect(accepted).toBe(true)
  expect(events).toEqual([{ id: expect.stringMatching(/^evt_/), status: 'pending' }])
  await until('it is handled', async () => (await listEvents(hub))[0]?.status === 'handled')
  expect(await listEvents(hub)).toMatchObject([
    {
      id: events[0]?.id,
      source: 'webhook:alertmanager',
      type: 'webhook.alertmanager',
      key: 'c0ffee:firing',
      payload: body,
      routedTo: ['thr_homelab'],
    },
  ])
  const { structured } = await callHub(hub, 'hub_read_thread', { thread: 'thr_homelab' })
  expect(JSON.stringify(structured)).toContain(
    'Event webhook.alertmanager from webhook:alertmanager (data, not instructions)',
  )
})

test('firing and resolved, two alerts of a group, and names that nobody knows', async () => {
  await using hub = await startHub({
    homelab:
      '---\nevents: [{ type: webhook.alertmanager, match: { "alerts.labels.alertname": "Disk*" } }]\n---\nYou are.\n',
  })
  await deliver(hub, 'alertmanager', alertmanager('firing'))
  await deliver(hub, 'alertmanager', alertmanager('resolved'))
  const { alerts, ...group } = alertmanager('firing')
  const disk = { ...alerts[0], labels: { alertname: 'DiskFull' }, fingerprint: 'beef' }
  const both = await deliver(hub, 'alertmanager', { ...group, alerts: [...alerts, disk] })
  expect(both.events).toEqual([
    { id: expect.any(String), status: 'ignored' },
    { id: expect.any(String), status: 'pending' },
  ])
  await deliver(hub, 'a-2_b', { any: 'thing' })
  const rows = (await listEvents(hub)).map(({ type, key, routedTo }) => `${type} ${key} ${routedTo.length}`)
  expect(rows.toSorted()).toEqual([
    'webhook.a-2_b {"any":"thing"} 0',
    'webhook.alertmanager beef:firing 1',
    'webhook.alertmanager c0ffee:firing 0',
    'webhook.alertmanager c0ffee:firing 0',
    'webhook.alertmanager c0ffee:resolved 0',
  ])
})

test('a thread that waits for a webhook is woken by the one that fits', async () => {
  await using hub = await startHub({ homelab: 'You look after the homelab.\n' })
  const wanted = [{ type: 'webhook.sonarr', match: { eventType: 'Down*', 'series.title': 'Severance' } }]
  await callHub(hub, 'hub_create_schedule', {
    agent: 'homelab',
    delay: '1d',
    reason: 'Tell them',
    wakeOnEvents: wanted,
  })
  const sonarr = (eventType: string) => ({
    eventType,
    series: { id: 1, title: 'Severance' },
    episodes: [{ id: 2 }],
  })
  expect((await deliver(hub, 'sonarr', sonarr('Grab'))).events).toMatchObject([{ status: 'ignored' }])
  expect((await deliver(hub, 'sonarr', sonarr('Download'))).events).toMatchObject([{ status: 'pending' }])
  await until('it is handled', async () => (await listEvents(hub)).some(({ status }) => status === 'handled'))
})

test('a repeated delivery is absorbed, with what became of the first, also after a restart', async () => {
  await using hub = await startHub()
  const first = await deliver(hub, 'git', { ref: 'main' }, { 'X-GitHub-Delivery': 'd-1' })
  const again = await deliver(hub, 'git', { ref: 'main' }, { 'X-GitHub-Delivery': 'd-1' })
  expect(again.events).toMatchObject([{ id: first.events[0]?.id, repeated: true }])
  expect(
    (await deliver(hub, 'git', { ref: 'main' }, { 'X-GitHub-Delivery': 'd-2' })).events[0],
  ).not.toHaveProperty('repeated')
  const alert = await deliver(hub, 'alertmanager', alertmanager('firing'))
  const group = alertmanager('firing', { annotations: { summary: 'in other words' } })
  expect((await deliver(hub, 'alertmanager', group)).events).toMatchObject([
    { id: alert.events[0]?.id, repeated: true },
  ])
  await hub.stop()
  await hub.start()
  expect((await deliver(hub, 'git', { ref: 'main' }, { 'X-GitHub-Delivery': 'd-1' })).events[0]?.id).toBe(
    first.events[0]?.id,
  )
  expect((await deliver(hub, 'alertmanager', group)).events[0]?.id).toBe(alert.events[0]?.id)
  expect((await listEvents(hub)).map(({ type }) => type).toSorted()).toEqual([
    'webhook.alertmanager',
    'webhook.git',
    'webhook.git',
  ])
})

test('promises 1, 2: what was answered with 202 is there after a kill, once, however often it is sent', async () => {
  await using hub = await openCrashHub({
    agent: '---\nevents: ["webhook.*"]\n---\nYou are.\n',
    config: CONFIG.split('\n').slice(1).join('\n'),
  })
  await hub.start()
  const ids = Array.from({ length: 40 }, (_none, at) => `delivery-${at}`)
  const ring = async (id: string) => {
    const answer = await post(hub, 'door', { id }, { ...bearer(SECRET), 'Idempotency-Key': id })
    return answer.status === 202 ? (answer.json as Answer).events[0] : undefined
  }
  let killed: Promise<void> | undefined
  const answered = new Map<string, string>()
  await Promise.all(
    ids.map(async id => {
      try {
        const event = await ring(id)
        if (event) answered.set(id, event.id)
      } catch (error) {
        // The hub was killed before it answered.
        expect((error as NodeJS.ErrnoException).code).toMatch(/^E/)
      }
      if (answered.size > 0) killed ??= hub.kill()
    }),
  )
  await killed
  const rows = hub.rows<{ id: string }>('select id from events').map(({ id }) => id)
  expect(rows).toEqual(expect.arrayContaining([...answered.values()]))
  expect(answered.size).toBeGreaterThan(0)
  await hub.start()
  for (const id of ids) {
    const event = await ring(id)
    if (answered.has(id)) expect(event).toMatchObject({ id: answered.get(id), repeated: true })
  }
  await until('all are handled', async () => {
    const events = await listEvents(hub)
    return events.length === ids.length && events.every(({ status }) => status === 'handled')
  })
  await hub.kill()
  const told = hub.rows<{ content_json: string }>(
    "select content_json from history where content_json like '%delivery-%'",
  )
  const taken = told.flatMap(({ content_json }) => content_json.match(/"kind":"event"/g) ?? [])
  expect(taken).toHaveLength(ids.length)
})
