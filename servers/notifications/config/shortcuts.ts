import type { settingsTable } from '../config.ts'

type Variable = keyof typeof settingsTable

/** A channel that is configured by variables alone. */
export interface Shortcut {
  name: string
  kind: string
  /** The variable of each of the entry's keys; the first one turns the channel on. */
  variables: Readonly<Record<string, Variable>>
}

export const shortcuts: readonly Shortcut[] = [
  {
    name: 'ntfy',
    kind: 'ntfy',
    variables: { url: 'NTFY_URL', token: 'NTFY_TOKEN', user: 'NTFY_USER', password: 'NTFY_PASSWORD' },
  },
  { name: 'discord', kind: 'discord-webhook', variables: { url: 'DISCORD_WEBHOOK_URL' } },
  {
    name: 'discord-bot',
    kind: 'discord-bot',
    variables: { token: 'DISCORD_BOT_TOKEN', channelId: 'DISCORD_CHANNEL_ID' },
  },
  { name: 'gotify', kind: 'gotify', variables: { url: 'GOTIFY_URL', token: 'GOTIFY_TOKEN' } },
  {
    name: 'email',
    kind: 'email',
    variables: {
      url: 'SMTP_URL',
      user: 'SMTP_USER',
      password: 'SMTP_PASSWORD',
      from: 'SMTP_FROM',
      to: 'SMTP_TO',
    },
  },
  {
    name: 'webhook',
    kind: 'webhook',
    variables: { url: 'NOTIFICATIONS_WEBHOOK_URL', secret: 'NOTIFICATIONS_WEBHOOK_SECRET' },
  },
  {
    name: 'apprise',
    kind: 'apprise',
    variables: { url: 'APPRISE_URL', key: 'APPRISE_KEY', urls: 'APPRISE_URLS', tag: 'APPRISE_TAG' },
  },
]
