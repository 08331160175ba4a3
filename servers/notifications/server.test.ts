import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inspectOverHttp, inspectOverStdio } from '../kit/testing/alone.ts'
import { ok, startFaultyUpstream } from '../kit/testing/faulty-upstream.ts'
import { assertFits } from '../kit/testing/server-world.ts'
import { notifications } from './server.ts'
import { startNotifications } from './testing/world.ts'

const FILE = fileURLToPath(new URL('./server.ts', import.meta.url))
const TOOLS = ['send_notification', 'list_notification_channels', 'get_notification_history']

test('the official inspector lists and calls it over stdio and HTTP', async () => {
  await using upstream = await startFaultyUpstream({ 'POST /': ok({ id: 'm1', time: 1 }) })
  await using world = await startNotifications({})
  const environment = {
    NTFY_URL: `${upstream.url}/lab`,
    NOTIFICATIONS_DATA: `${world.folder}/alone.db`,
    NOTIFICATIONS_TIMEZONE: 'UTC',
  }
  const inspected = async ({ tools, remarks, call }: Awaited<ReturnType<typeof inspectOverStdio>>) => {
    expect(remarks).toBe('')
    expect(tools.map(({ name }) => name)).toEqual(TOOLS)
    for (const [index, args] of [
      { message: 'hello', key: `call-${upstream.requests.length}` },
      {},
      {},
    ].entries()) {
      const called = await call(TOOLS[index] ?? '', args as Record<string, string>)
      assertFits(tools[index]?.outputSchema ?? {}, called['structuredContent'])
    }
  }
  await inspected(await inspectOverStdio(FILE, environment))
  await inspectOverHttp(notifications, environment, inspected)
  expect(upstream.requests).toHaveLength(2)
})

test('read-only, it cannot send', async () => {
  await using world = await startNotifications({ NOTIFICATIONS_READ_ONLY: 'true' })
  expect(world.world.listed().map(({ name }) => name)).toEqual(TOOLS.slice(1))
})

test('without a channel it starts, and says what it lacks', async () => {
  await using world = await startNotifications({})
  const refused = await world.call('send_notification', { message: 'hi' })
  expect(refused.isError).toBe(true)
  expect(refused.text).toContain('No notification channel is configured here.')
  expect(refused.text).toContain('NTFY_URL')
  expect((await world.call('list_notification_channels')).text).toBe('No notification channel is configured.')
  expect((await world.call('get_notification_history')).text).toBe('No notification was sent that fits.')
})
