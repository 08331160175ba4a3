import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { readNotificationSettings, settingsTable } from './config.ts'

const YAML = `
timezone: Europe/Berlin
routing:
  info: mail
  critical: [phone, mail]
channels:
  phone:
    kind: ntfy
    url: https://ntfy.home/alerts
    token: \${NOTIFICATIONS_PHONE_TOKEN}
    quietHours: { from: "22:00", to: "7:00" }
    dedupe: 10m
    limit: { count: 5, per: 1h }
  mail:
    kind: email
    url: smtp://user:pw@mail.home:587
    from: hub@home.example
    to: me@home.example
`

describe('the file', () => {
  test('names channels, rules and routing; variables stand for secrets', async () => {
    using folder = makeTempFolder()
    const file = join(folder.path, 'n.yaml')
    const secret = join(folder.path, 'token')
    writeFileSync(file, YAML)
    writeFileSync(secret, 'tk_1\n')
    const settings = await readNotificationSettings({
      NOTIFICATIONS_CONFIG: file,
      NOTIFICATIONS_PHONE_TOKEN_FILE: secret,
      SUPERBLOOM_DATA: '/var/lib/superbloom',
    })
    expect(settings).toMatchObject({
      timezone: 'Europe/Berlin',
      file: '/var/lib/superbloom/notifications.db',
      routing: { info: ['mail'], warning: ['mail'], critical: ['phone', 'mail'] },
    })
    expect(settings.channels).toMatchObject([
      {
        name: 'phone',
        where: `channels.phone of ${file}`,
        entry: { url: 'https://ntfy.home/alerts', token: 'tk_1' },
        rules: {
          quietHours: { from: 1320, to: 420, timezone: 'Europe/Berlin', critical: 'pass' },
          dedupe: 600_000,
          limit: { count: 5, per: 3_600_000 },
        },
      },
      { name: 'mail', entry: { to: ['me@home.example'] }, rules: { quietHours: undefined, dedupe: 300_000 } },
    ])
  })

  test.each([
    ['missing', undefined, /cannot be read: ENOENT/],
    ['no YAML', 'channels: [', /neither YAML nor JSON/],
    ['an unknown key', 'channels: {}\nrules: 1', /rules: no such key/],
    [
      'a variable that is missing',
      YAML,
      /channels\.phone\.token: the environment has no NOTIFICATIONS_PHONE_TOKEN/,
    ],
  ])('%s: is told', async (_what, text, words) => {
    using folder = makeTempFolder()
    const file = join(folder.path, 'n.yml')
    if (text !== undefined) writeFileSync(file, text)
    await expect(readNotificationSettings({ NOTIFICATIONS_CONFIG: file })).rejects.toThrow(words)
  })
})

describe('variables alone', () => {
  test('make one channel each; the first gets everything', async () => {
    const { channels, routing } = await readNotificationSettings({
      NTFY_URL: 'https://ntfy.sh/topic/',
      DISCORD_WEBHOOK_URL: 'https://discord.com/api/webhooks/1/abc',
      DISCORD_BOT_TOKEN: 'bot',
      DISCORD_CHANNEL_ID: '22',
      GOTIFY_URL: 'http://gotify:80',
      GOTIFY_TOKEN: 'A1',
      SMTP_URL: 'smtps://mail.home',
      SMTP_FROM: 'Hub <hub@home.example>',
      SMTP_TO: 'a@home.example, b@home.example',
      NOTIFICATIONS_WEBHOOK_URL: 'https://hooks.example/x?y=z',
      APPRISE_URL: 'http://apprise:8000',
      APPRISE_KEY: 'homelab',
    })
    expect(channels.map(({ name, kind }) => [name, kind.kind])).toEqual([
      ['ntfy', 'ntfy'],
      ['discord', 'discord-webhook'],
      ['discord-bot', 'discord-bot'],
      ['gotify', 'gotify'],
      ['email', 'email'],
      ['webhook', 'webhook'],
      ['apprise', 'apprise'],
    ])
    expect(channels[4]?.entry['to']).toEqual(['a@home.example', 'b@home.example'])
    expect(routing).toEqual({ info: ['ntfy'], warning: ['ntfy'], critical: ['ntfy'] })
  })

  test('nothing at all is fine', async () => {
    expect(await readNotificationSettings({})).toMatchObject({ channels: [], routing: { info: [] } })
  })
})

test.each([
  ['no topic', { NTFY_URL: 'https://ntfy.sh' }, /NTFY_URL: must end with the topic/],
  ['half a bot', { DISCORD_BOT_TOKEN: 'x' }, /DISCORD_CHANNEL_ID: is not set/],
  [
    'half a Gotify',
    { GOTIFY_URL: 'http://g' },
    /GOTIFY_TOKEN: is not set\. .*It sets an application token\. Where to find it: Gotify: Apps/,
  ],
  ['a mail to nobody', { SMTP_URL: 'smtp://x', SMTP_FROM: 'a@b.c' }, /SMTP_TO: is not set\. .*who gets them/],
  [
    'no webhook',
    { DISCORD_WEBHOOK_URL: 'https://discord.com/channels/1' },
    /DISCORD_WEBHOOK_URL: must look like/,
  ],
  ['no key for Apprise', { APPRISE_URL: 'http://a' }, /APPRISE_URL: needs either key or urls/],
  [
    'no kind',
    { NOTIFICATIONS_CHANNELS: '{"a":{"kind":"pager"}}' },
    /kind must be one of ntfy, discord-webhook/,
  ],
  [
    'a wrong key, without its value',
    { NOTIFICATIONS_CHANNELS: '{"a":{"kind":"gotify","url":"http://g","token":"t","tokn":"SECRET"}}' },
    /a of NOTIFICATIONS_CHANNELS: Unrecognized key: "tokn"; it takes url, token, clientToken, quietHours, dedupe, limit/,
  ],
  [
    'the same name twice',
    { NTFY_URL: 'https://n/t', NOTIFICATIONS_CHANNELS: '{"NTFY":{"kind":"ntfy","url":"https://n/u"}}' },
    /Two channels are called "ntfy"/,
  ],
  [
    'a wrong route',
    { NTFY_URL: 'https://n/t', NOTIFICATIONS_ROUTING: '{"info":["phone"]}' },
    /The routing names "phone", which is no channel; there is ntfy/,
  ],
  ['a wrong zone', { NOTIFICATIONS_TIMEZONE: 'Mars/Base' }, /time zone "Mars\/Base" is not known/],
  [
    'a wrong time',
    {
      NOTIFICATIONS_CHANNELS:
        '{"a":{"kind":"ntfy","url":"https://n/t","quietHours":{"from":"25:00","to":"7:00"}}}',
    },
    /quietHours\.from of a of NOTIFICATIONS_CHANNELS: must be a time/,
  ],
])('%s: is told by its name', async (_what, environment, words) => {
  const failure = await readNotificationSettings(environment).then(() => '', String)
  expect(failure).toMatch(words)
  expect(failure).not.toContain('SECRET')
})

test('every setting is in the README, and back', () => {
  const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
  const named = [...readme.matchAll(/^\| `([A-Z_]+)`/gm)].map(match => match[1] ?? '')
  expect(named.sort()).toEqual(Object.keys(settingsTable).sort())
})

test.each([
  ['SMTP_URL', { SMTP_URL: 'smtp://me:50%off@mail', SMTP_FROM: 'a@b', SMTP_TO: 'a@b' }],
  ['NTFY_URL', { NTFY_URL: 'https://ntfy.home/50%off' }],
])('a stray percent sign in %s is named, and the value is not', async (variable, environment) => {
  const error = await readNotificationSettings(environment).catch((thrown: unknown) => thrown)
  expect(String(error)).toMatch(new RegExp(`${variable}.*percent`))
  expect(String(error)).not.toContain('50')
})
