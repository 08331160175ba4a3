import { randomBytes } from 'node:crypto'
import type { ServerDeps, StartedServer } from '../kit/server.ts'
import { openChannels } from './channels/channels.ts'
import { readNotificationSettings } from './config.ts'
import { checkChannels } from './health.ts'
import { createOutbox } from './outbox/outbox.ts'
import { getNotificationHistory } from './tools/get-notification-history.ts'
import { listNotificationChannels } from './tools/list-notification-channels.ts'
import { sendNotification } from './tools/send-notification.ts'

/** Starts the server with its settings. Throws SettingsError if they are wrong. */
export async function start({ clock, environment, log }: ServerDeps): Promise<StartedServer> {
  const settings = await readNotificationSettings(environment)
  const { timezone } = settings
  const channels = openChannels(settings, clock)
  const outbox = createOutbox(settings.file, {
    channels: channels.all,
    clock,
    log,
    random: Math.random,
    timezone,
  })
  // The start does not wait until an earlier process's messages are resumed.
  const resuming = outbox.openExisting().catch(error => log('error', 'outbox not resumed', { error }))
  const deps = { channels, outbox, clock, timezone }
  return {
    tools: [
      // An id of 17 characters that Discord's nonce, ntfy's sequence and a Message-ID all accept.
      sendNotification({ ...deps, newId: () => `n${randomBytes(12).toString('base64url')}` }),
      listNotificationChannels(deps),
      getNotificationHistory(deps),
    ],
    watchers: [],
    health: () => checkChannels(channels),
    async [Symbol.asyncDispose]() {
      await resuming
      await outbox[Symbol.asyncDispose]()
    },
  }
}
