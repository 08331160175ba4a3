import { expect, test } from 'vitest'
import { startNotifications } from './testing/world.ts'

const TOOLS = ['send_notification', 'list_notification_channels', 'get_notification_history']

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
