import { runServer } from '../kit/run.ts'
import type { ServerDefinition } from '../kit/server.ts'
import { VERSION } from '../kit/version.ts'

/** The server that sends messages to people, and retries until they arrive. Settings: see config.ts. */
export const notifications: ServerDefinition = {
  name: 'notifications',
  version: VERSION,
  title: 'Notifications',
  instructions:
    'Sends messages to people on their phones, in chats and by mail. send_notification sends; without a channel the ' +
    'severity decides where to. list_notification_channels says what there is, get_notification_history what was sent, ' +
    'waits or failed. What was accepted is kept and tried again by itself: do not send it twice.',
  start: async deps => (await import('./start.ts')).start(deps),
}

if (import.meta.main) await runServer(notifications, { kind: 'stdio' })
