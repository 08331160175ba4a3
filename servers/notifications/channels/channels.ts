import type { Clock } from '../../kit/clock.ts'
import { ToolFailure } from '../../kit/failure.ts'
import { cleanText } from '../../kit/text.ts'
import type { ChannelConfig } from '../config/channel-entry.ts'
import type { NotificationSettings } from '../config.ts'
import type { Severity } from '../message.ts'

export type Channels = ReturnType<typeof openChannels>

/** Opens the configured channels, each with its sender. */
export function openChannels({ channels, routing }: NotificationSettings, clock: Clock) {
  const all = channels.map(config => {
    const { kind, name, entry, where } = config
    return { config, sender: kind.open(entry, { clock, where, title: `${kind.title} (channel ${name})` }) }
  })
  /** Returns the channel of this name. Throws ToolFailure, which lists the channels that exist. */
  const find = (name: string) => findChannel(channels, name)
  return {
    all,
    find,
    /** Returns the named channel, or the severity's channels when no name is given. Throws ToolFailure. */
    pick(name: string | undefined, severity: Severity): readonly ChannelConfig[] {
      if (channels.length === 0) throw toUnconfigured()
      return name === undefined ? routing[severity].map(find) : [find(name)]
    },
    /** Returns all other channels, in the order of the config. */
    besides: (some: readonly { name: string }[]): ChannelConfig[] =>
      channels.filter(({ name }) => some.every(one => one.name !== name)),
    /** Returns the name of the channel's program, such as "ntfy", also for one that is no longer configured. */
    titleOf: (name: string): string =>
      channels.find(one => one.name === name)?.kind.title ?? 'no longer configured',
    severitiesOf: (name: string): Severity[] =>
      (Object.keys(routing) as Severity[]).filter(severity => routing[severity].includes(name)),
  }
}

/** Finds a channel by its name in any case, else by its kind when only one channel is of that kind. */
function findChannel(channels: readonly ChannelConfig[], asked: string): ChannelConfig {
  const wanted = asked
    .trim()
    .replace(/^#/, '')
    .toLowerCase()
    .replace(/^e?-?mail$/, 'email')
  const named = channels.find(({ name }) => name.toLowerCase() === wanted)
  const [kin, ...others] = channels.filter(({ kind }) => kind.kind.split('-').includes(wanted))
  if (named) return named
  if (kin && others.length === 0) return kin
  if (channels.length === 0) throw toUnconfigured()
  throw new ToolFailure({
    what: `There is no channel called "${cleanText(asked, 60)}".`,
    where: 'channel',
    why: `there is ${channels.map(({ name }) => name).join(', ')}`,
    fix: 'Call it again with one of these, or without a channel: then the severity decides.',
  })
}

function toUnconfigured(): ToolFailure {
  return new ToolFailure({
    what: 'No notification channel is configured here.',
    where: 'NOTIFICATIONS_CONFIG',
    why: 'none of NOTIFICATIONS_CONFIG, NOTIFICATIONS_CHANNELS, NTFY_URL, DISCORD_WEBHOOK_URL, DISCORD_BOT_TOKEN, SMTP_URL, GOTIFY_URL, NOTIFICATIONS_WEBHOOK_URL and APPRISE_URL is set',
    fix: 'Ask the owner to set one of them: NTFY_URL, for a phone with the ntfy app, is the address of a topic such as https://ntfy.sh/my-topic; DISCORD_WEBHOOK_URL is what Discord copies under Channel > Edit > Integrations > Webhooks.',
  })
}
