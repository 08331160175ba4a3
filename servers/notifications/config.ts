import { join, resolve } from 'node:path'
import { z } from 'zod'
import { describeProblems } from '../../schemas/problems.ts'
import { isTimezone } from '../../schemas/timezone.ts'
import { expandVariables, readConfigFile } from '../kit/config-file.ts'
import {
  describeSetting,
  type Environment,
  readSettings,
  type Setting,
  SettingsError,
  type SettingsTable,
  textSetting,
} from '../kit/env.ts'
import { jsonSetting, secretSetting, urlSetting } from '../kit/settings.ts'
import { type ChannelConfig, readChannel } from './config/channel-entry.ts'
import { readRouting } from './config/routing.ts'

const text = (purpose: string, form: string, pattern = /./) => textSetting({ purpose, form, pattern })
const entries = z.record(z.string(), z.looseObject({}))

/** Every setting of this server. A test compares them with the README's list. */
export const settingsTable = {
  NOTIFICATIONS_CONFIG: text(
    'the file with the channels and the routing',
    'a path of a .yaml, .yml or .json file',
    /\.(ya?ml|json)$/,
  ),
  NOTIFICATIONS_CHANNELS: jsonSetting({
    purpose: 'channels by name, as in the file',
    schema: entries,
    form: 'an object such as {"phone": {"kind": "ntfy", "url": "https://ntfy.sh/topic"}}',
    secret: true,
  }),
  NOTIFICATIONS_ROUTING: jsonSetting({
    purpose: 'which channels get a message that names none, by severity',
    schema: z.unknown(),
    form: 'an object such as {"info": ["mail"], "critical": ["phone", "mail"]}',
  }),
  NOTIFICATIONS_TIMEZONE: text(
    'the time zone of quiet hours and of times in texts',
    'an IANA name such as "Europe/Berlin"',
  ),
  NOTIFICATIONS_DATA: text('the file of the outbox and the history', 'a path'),
  SUPERBLOOM_DATA: text('the folder of that file, where it has no path of its own', 'a path'),
  NTFY_URL: urlSetting({
    purpose: 'the topic of the channel "ntfy"',
    where: 'ntfy: the topic\'s address, "https://ntfy.sh/my-topic"',
  }),
  NTFY_TOKEN: secretSetting({ purpose: 'its access token', where: 'ntfy: Account > Access tokens' }),
  NTFY_USER: text('its user, where there is no token', 'a name'),
  NTFY_PASSWORD: secretSetting({ purpose: 'its password' }),
  DISCORD_WEBHOOK_URL: secretSetting({
    purpose: 'the webhook of the channel "discord"',
    where: 'Discord: Channel > Edit > Integrations > Webhooks > Copy URL',
  }),
  DISCORD_BOT_TOKEN: secretSetting({
    purpose: 'the bot of the channel "discord-bot"',
    where: 'Discord developer portal: Bot > Token',
  }),
  DISCORD_CHANNEL_ID: {
    ...text('where the bot posts', 'digits', /^\d+$/),
    where: 'Discord, developer mode: Channel > Copy ID',
  },
  GOTIFY_URL: urlSetting({ purpose: 'the server of the channel "gotify"', where: "its page's address" }),
  GOTIFY_TOKEN: secretSetting({ purpose: 'an application token', where: 'Gotify: Apps' }),
  GOTIFY_CLIENT_TOKEN: secretSetting({
    purpose: 'a client token, by which messages about approvals are removed once those are decided',
    where: 'Gotify: Clients',
  }),
  SMTP_URL: secretSetting({
    purpose: 'the mail server of the channel "email"',
    where: 'your mail provider',
    form: 'smtp://user:password@host:587 or smtps://…',
  }),
  SMTP_USER: text('its user, where it does not stand in the address', 'a name'),
  SMTP_PASSWORD: secretSetting({
    purpose: 'its password, where it does not stand in the address',
    where: 'your mail provider; many want an app password',
  }),
  SMTP_FROM: text('the sender of its mails', 'a mail address'),
  SMTP_TO: text('who gets them', 'mail addresses between commas'),
  NOTIFICATIONS_WEBHOOK_URL: secretSetting({ purpose: 'the address of the channel "webhook"' }),
  NOTIFICATIONS_WEBHOOK_SECRET: secretSetting({ purpose: 'the key of its signature' }),
  APPRISE_URL: urlSetting({
    purpose: 'the Apprise API of the channel "apprise"',
    where: "its page's address",
  }),
  APPRISE_KEY: secretSetting({ purpose: 'the key of its stored configuration' }),
  APPRISE_URLS: secretSetting({ purpose: 'Apprise addresses instead of a stored configuration' }),
  APPRISE_TAG: text('which of its services', 'tags as Apprise takes them'),
} satisfies SettingsTable & Record<string, Setting<unknown>>

type Variable = keyof typeof settingsTable

/** Channels that are configured by variables alone; the first variable turns the channel on. */
const SHORTCUTS: readonly { name: string; kind: string; variables: readonly Variable[] }[] = [
  { name: 'ntfy', kind: 'ntfy', variables: ['NTFY_URL', 'NTFY_TOKEN', 'NTFY_USER', 'NTFY_PASSWORD'] },
  { name: 'discord', kind: 'discord-webhook', variables: ['DISCORD_WEBHOOK_URL'] },
  { name: 'discord-bot', kind: 'discord-bot', variables: ['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID'] },
  { name: 'gotify', kind: 'gotify', variables: ['GOTIFY_URL', 'GOTIFY_TOKEN', 'GOTIFY_CLIENT_TOKEN'] },
  {
    name: 'email',
    kind: 'email',
    variables: ['SMTP_URL', 'SMTP_USER', 'SMTP_PASSWORD', 'SMTP_FROM', 'SMTP_TO'],
  },
  {
    name: 'webhook',
    kind: 'webhook',
    variables: ['NOTIFICATIONS_WEBHOOK_URL', 'NOTIFICATIONS_WEBHOOK_SECRET'],
  },
  {
    name: 'apprise',
    kind: 'apprise',
    variables: ['APPRISE_URL', 'APPRISE_KEY', 'APPRISE_URLS', 'APPRISE_TAG'],
  },
]

/** Returns the key of an entry that a variable sets: "token" for NTFY_TOKEN. */
function toKey(variable: Variable): string {
  if (variable === 'DISCORD_CHANNEL_ID') return 'channelId'
  if (variable === 'GOTIFY_CLIENT_TOKEN') return 'clientToken'
  return variable.slice(variable.lastIndexOf('_') + 1).toLowerCase()
}

export type NotificationSettings = Awaited<ReturnType<typeof readNotificationSettings>>

/** Reads and checks all settings. Rejects with SettingsError, which names every problem at once. */
export async function readNotificationSettings(environment: Environment) {
  const read = readSettings(settingsTable, environment)
  const problems: string[] = []
  const path = read.NOTIFICATIONS_CONFIG
  const file = path === undefined ? undefined : await readFile(path, environment, problems)
  const zone = read.NOTIFICATIONS_TIMEZONE ?? file?.timezone
  const timezone = zone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isTimezone(timezone)) {
    problems.push(`The time zone "${zone}" is not known; it must be an IANA name such as "Europe/Berlin".`)
  }
  const inline = expandVariables(read.NOTIFICATIONS_CHANNELS ?? {}, {
    where: 'NOTIFICATIONS_CHANNELS',
    environment,
    problems,
  })
  const given = [
    ...toGiven(file?.channels, name => `channels.${name} of ${path}`),
    ...toGiven(entries.parse(inline), name => `${name} of NOTIFICATIONS_CHANNELS`),
  ]
  const channels = [
    ...given.map(one => readChannel({ ...one, timezone }, problems)),
    ...SHORTCUTS.map(shortcut => fromShortcut(shortcut, read, timezone, problems)),
  ].filter(channel => channel !== undefined)
  checkNames(channels, problems)
  const routing = readRouting(read.NOTIFICATIONS_ROUTING ?? file?.routing, channels, problems)
  if (problems.length > 0) throw new SettingsError(problems)
  const folder = read.SUPERBLOOM_DATA ?? 'data'
  return {
    channels,
    routing,
    timezone,
    /** The path of the outbox and history. */
    file: resolve(read.NOTIFICATIONS_DATA ?? join(folder, 'notifications.db')),
  }
}

const configFile = z.strictObject({
  timezone: z.string().optional(),
  routing: z.unknown().optional(),
  channels: entries,
})

async function readFile(path: string, environment: Environment, problems: string[]) {
  const where = `NOTIFICATIONS_CONFIG ${path}`
  const content = await readConfigFile('NOTIFICATIONS_CONFIG', path)
  const parsed = configFile.safeParse(expandVariables(content, { where, environment, problems }))
  if (parsed.success) return parsed.data
  throw new SettingsError([`${where}: ${describeProblems(parsed.error, 'the whole')}`])
}

function toGiven(channels: Record<string, object> | undefined, toWhere: (name: string) => string) {
  return Object.entries(channels ?? {}).map(([name, entry]) => ({ name, entry, where: toWhere(name) }))
}

function fromShortcut(
  { name, kind, variables: all }: (typeof SHORTCUTS)[number],
  read: Readonly<Record<Variable, unknown>>,
  timezone: string,
  problems: string[],
): ChannelConfig | undefined {
  const [where = ''] = all
  if (read[where as Variable] === undefined) return undefined
  const toValue = (variable: Variable) =>
    variable === 'SMTP_TO' ? read.SMTP_TO && String(read.SMTP_TO).split(/\s*,\s*/) : read[variable]
  const entry = { kind, ...Object.fromEntries(all.map(variable => [toKey(variable), toValue(variable)])) }
  const variables = Object.fromEntries(all.map(variable => [toKey(variable), variable]))
  return readChannel({ name, entry, where, timezone, variables, explain }, problems)
}

function explain(variable: string): string {
  const text = describeSetting(settingsTable[variable as keyof typeof settingsTable])
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

function checkNames(channels: readonly ChannelConfig[], problems: string[]): void {
  for (const [index, { name, where }] of channels.entries()) {
    const other = channels.slice(0, index).find(one => one.name.toLowerCase() === name.toLowerCase())
    if (other) problems.push(`Two channels are called "${name}": ${other.where} and ${where}. Rename one.`)
  }
}
