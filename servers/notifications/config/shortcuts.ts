import type { settingsTable } from '../config.ts'

type Variable = keyof typeof settingsTable

/** A channel that is configured by variables alone. */
export interface Shortcut {
  name: string
  kind: string
  /** The variable that turns the channel on. */
  decidedBy: Variable
  /** The variable of each of the entry's keys. */
  variables: Readonly<Record<string, Variable>>
  /** Keys whose value is a comma-separated list. */
  lists?: readonly string[]
}

export const shortcuts: readonly Shortcut[] = [
  {
    name: 'ntfy',
    kind: 'ntfy',
    decidedBy: 'NTFY_URL',
    variables: { url: 'NTFY_URL', token: 'NTFY_TOKEN', user: 'NTFY_USER', password: 'NTFY_PASSWORD' },
  },
  {
    name: 'discord',
    kind: 'discord-webhook',
    decidedBy: 'DISCORD_WEBHOOK_URL',
    variables: { url: 'DISCORD_WEBHOOK_URL' },
  },
  {
    name: 'discord-bot',
    kind: 'discord-bot',
    decidedBy: 'DISCORD_BOT_TOKEN',
    variables: { token: 'DISCORD_BOT_TOKEN', channelId: 'DISCORD_CHANNEL_ID' },
  },
  {
    name: 'gotify',
    kind: 'gotify',
    decidedBy: 'GOTIFY_URL',
    variables: { url: 'GOTIFY_URL', token: 'GOTIFY_TOKEN' },
  },
  {
    name: 'email',
    kind: 'email',
    decidedBy: 'SMTP_URL',
    variables: {
      url: 'SMTP_URL',
      user: 'SMTP_USER',
      password: 'SMTP_PASSWORD',
      from: 'SMTP_FROM',
      to: 'SMTP_TO',
    },
    lists: ['to'],
  },
  {
    name: 'webhook',
    kind: 'webhook',
    decidedBy: 'NOTIFICATIONS_WEBHOOK_URL',
    variables: { url: 'NOTIFICATIONS_WEBHOOK_URL', secret: 'NOTIFICATIONS_WEBHOOK_SECRET' },
  },
  {
    name: 'apprise',
    kind: 'apprise',
    decidedBy: 'APPRISE_URL',
    variables: { url: 'APPRISE_URL', key: 'APPRISE_KEY', urls: 'APPRISE_URLS', tag: 'APPRISE_TAG' },
  },
]
