import { BUTTONS, type MessageButton, REPLACES } from '../../schemas/message-buttons.ts'
import { HubError } from '../core/errors.ts'
import { isObject, type JsonObject } from '../core/forwarding.ts'
import { toOutcome } from './outcome.ts'
import type { Servers } from './servers.ts'
import { IDEMPOTENCY_KEY } from './tool-box.ts'

const SERVER = 'notifications'
const NO_SERVER =
  'the notifications server does not run: give it a channel (NTFY_URL or NOTIFICATIONS_CHANNELS); one that runs elsewhere wants trust: own in its entry'

/** The hub's own use of the notifications server, which nobody else's server can take the place of. */
export interface NotificationChannel {
  /** Returns why the channel that the config names cannot be used; none while servers still start. */
  problems(channel: string | undefined): string[]
  /** Calls `send_notification`; resolves with the receipt in words. Throws `unavailable` with the reason. */
  send(
    args: JsonObject & { channel: string },
    options: {
      idempotencyKey: string
      buttons: readonly MessageButton[]
      isUpdate: boolean
      signal: AbortSignal
    },
  ): Promise<string>
}

export function createNotificationChannel(
  servers: Pick<Servers, 'catalogue' | 'call' | 'specOf' | 'settled'>,
): NotificationChannel {
  const find = () =>
    servers.catalogue.tools.find(
      ({ server, original }) =>
        server === SERVER && original === 'send_notification' && servers.specOf(server)?.trust === 'own',
    )
  const problemOf = (channel: string) => {
    const tool = find()
    if (!tool) return NO_SERVER
    const { channel: field } = tool.definition.inputSchema.properties ?? {}
    const known = isObject(field) && Array.isArray(field['enum']) ? field['enum'].map(String) : []
    if (known.some(name => name.toLowerCase() === channel.toLowerCase())) return undefined
    return `the notifications server has no channel ${channel}; it has ${known.join(', ') || 'none'}`
  }
  return {
    problems(channel) {
      const problem = channel !== undefined && servers.settled ? problemOf(channel) : undefined
      return problem === undefined ? [] : [`notify in superbloom.yaml: ${problem}`]
    },
    async send(args, { idempotencyKey, buttons, isUpdate, signal }) {
      const tool = find()
      const problem = problemOf(args.channel)
      if (!tool || problem !== undefined) throw new HubError('unavailable', problem ?? NO_SERVER)
      const result = await servers.call(tool.name, args, {
        signal,
        meta: {
          [IDEMPOTENCY_KEY]: idempotencyKey,
          ...(buttons.length === 0 ? {} : { [BUTTONS]: buttons }),
          ...(isUpdate ? { [REPLACES]: true } : {}),
        },
      })
      const { text, isError } = toOutcome(result, true)
      if (isError) throw new HubError('unavailable', text)
      return text
    },
  }
}
