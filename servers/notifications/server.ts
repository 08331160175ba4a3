import { randomBytes } from 'node:crypto'
import { checkHealth } from '../kit/health.ts'
import { runServer } from '../kit/run.ts'
import type { ServerDefinition, ServerDeps, StartedServer } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'
import { openChannels } from './channels.ts'
import { readNotificationSettings } from './config.ts'
import { createOutbox } from './outbox/outbox.ts'
import { getNotificationHistory } from './tools/get-notification-history.ts'
import { listNotificationChannels } from './tools/list-notification-channels.ts'
import { sendNotification } from './tools/send-notification.ts'

/** Sends messages to people, and keeps at it until they arrive. Settings: see config.ts. */
export const notifications: ServerDefinition = {
  name: 'notifications',
  version: VERSION,
  title: 'Notifications',
  instructions:
    'Sends messages to people on their phones, in chats and by mail. send_notification sends; without a channel the ' +
    'severity decides where to. list_notification_channels says what there is, get_notification_history what was sent, ' +
    'waits or failed. What was accepted is kept and tried again by itself: do not send it twice.',
  start,
}

async function start({ clock, environment, log }: ServerDeps): Promise<StartedServer> {
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
  // What an earlier process left is taken up without holding up the start.
  const resuming = outbox.openExisting().catch(error => log('error', 'outbox not resumed', { error }))
  const deps = { channels, outbox, clock, timezone }
  return {
    tools: [
      sendNotification({ ...deps, newId: createId }),
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

/** 17 letters that Discord's nonce, ntfy's sequence and a Message-ID all take. */
function createId(): string {
  return `n${randomBytes(12).toString('base64url')}`
}

/** Those that can be asked without sending anything. */
function checkChannels({ all }: ReturnType<typeof openChannels>) {
  const checks = all.flatMap(({ config, sender }) => {
    const { check, address } = sender
    if (!check) return []
    const signal = new AbortController().signal
    return [checkHealth({ name: config.name, kind: config.kind.kind, address }, () => check(signal))]
  })
  return Promise.all(checks)
}

if (import.meta.main) await runServer(notifications, { kind: 'stdio' })
