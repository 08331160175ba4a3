import type { ProgramSetting } from '../../schemas/programs.ts'
import { type Answer, RECOGNISED, type Recognised } from './recognise.ts'

/** A program that a built-in server looks after or sends with, and how a person connects it. */
export interface Program {
  name: string
  title: string
  /** The built-in server that uses it. */
  server: string
  about: string
  /** Beginning of its variables: SABNZBD for SABNZBD_URL. */
  prefix: string
  settings: readonly ProgramSetting[]
  /** Variables that every connection sets. */
  fixed?: Readonly<Record<string, string>>
  /** Name that the server gives the program when it says whether it answers. */
  kind: string
  /** True if the server takes several, each with a name of its own. */
  isRepeatable: boolean
  /** How it is found on this machine; a program without this is not looked for. */
  probe?: {
    ports: readonly number[]
    /** Request that the program answers without a key. */
    path: string
    /** Paths below which the program may be, besides the root. */
    below?: readonly string[]
    recognise: (answer: Answer) => Recognised | undefined
  }
}

const address = (initial: string): ProgramSetting => ({
  key: 'URL',
  label: 'Address',
  where: 'As the machine of the hub reaches it; another machine in place of localhost works too.',
  initial,
})
const key = (where: string): ProgramSetting => ({ key: 'API_KEY', label: 'API key', where, isSecret: true })
const user = (where: string): ProgramSetting[] => [
  { key: 'USERNAME', label: 'User', where, isOptional: true },
  { key: 'PASSWORD', label: 'Password', isSecret: true, isOptional: true },
]
const login = [
  ...user('Only where one is asked for, such as by a proxy before it.'),
  { key: 'TOKEN', label: 'Token', where: 'In place of user and password.', isSecret: true, isOptional: true },
]

type Named = Omit<Program, 'prefix' | 'kind' | 'isRepeatable'>

const download = (program: Omit<Named, 'server'>): Program => ({
  ...program,
  server: 'downloads',
  prefix: program.name.toUpperCase(),
  kind: program.name,
  isRepeatable: true,
})
const media = (program: Omit<Named, 'server'>): Program => ({ ...download(program), server: 'media' })
const metrics = (program: Omit<Named, 'server'>): Program => ({
  ...download(program),
  server: 'metrics',
  prefix: program.name.toUpperCase().replace('-', '_'),
  kind: program.title,
})
const channel = (program: Omit<Program, 'server' | 'isRepeatable'>): Program => ({
  ...program,
  server: 'notifications',
  isRepeatable: false,
})

/** All programs that the page connects, in its order. Channels have the name that the notifications server gives them. */
export const PROGRAMS: readonly Program[] = [
  download({
    name: 'sabnzbd',
    title: 'SABnzbd',
    about: 'Downloads from Usenet.',
    settings: [
      address('http://localhost:8080'),
      key('In SABnzbd: Config, General, API Key. The NZB key can only add.'),
    ],
    probe: {
      ports: [8080],
      path: '/api?mode=version&output=json',
      below: ['/sabnzbd'],
      recognise: RECOGNISED.sabnzbd,
    },
  }),
  download({
    name: 'qbittorrent',
    title: 'qBittorrent',
    about: 'Torrents.',
    settings: [
      address('http://localhost:8080'),
      ...user('In qBittorrent: Options, Web UI, Authentication. Empty where it asks this machine for none.'),
    ],
    probe: { ports: [8080, 8081], path: '/', recognise: RECOGNISED.qbittorrent },
  }),
  download({
    name: 'transmission',
    title: 'Transmission',
    about: 'Torrents.',
    settings: [
      address('http://localhost:9091'),
      ...user('rpc-username in its settings.json. Empty where it asks for none.'),
    ],
    probe: { ports: [9091], path: '/transmission/rpc', recognise: RECOGNISED.transmission },
  }),
  media({
    name: 'jellyfin',
    title: 'Jellyfin',
    about: 'Who watches what, what is new, and the library.',
    settings: [address('http://localhost:8096'), key('In Jellyfin: Dashboard, API Keys, the plus sign.')],
    probe: { ports: [8096], path: '/System/Info/Public', recognise: RECOGNISED.jellyfin },
  }),
  media({
    name: 'radarr',
    title: 'Radarr',
    about: 'Films: what is missing, what comes, and requests.',
    settings: [address('http://localhost:7878'), key('In Radarr: Settings, General, Security, API Key.')],
    probe: { ports: [7878], path: '/login', recognise: RECOGNISED.radarr },
  }),
  media({
    name: 'sonarr',
    title: 'Sonarr',
    about: 'Shows: what is missing, what comes, and requests.',
    settings: [address('http://localhost:8989'), key('In Sonarr: Settings, General, Security, API Key.')],
    probe: { ports: [8989], path: '/login', recognise: RECOGNISED.sonarr },
  }),
  media({
    name: 'seerr',
    title: 'Seerr',
    about: 'Requests of the family; Overseerr and Jellyseerr too.',
    settings: [address('http://localhost:5055'), key('In Seerr: Settings, General, API Key.')],
    probe: { ports: [5055], path: '/api/v1/status', recognise: RECOGNISED.seerr },
  }),
  {
    name: 'docker',
    title: 'Docker or Podman',
    server: 'games',
    about:
      'Game servers in containers. A container with the label superbloom.game=NAME becomes one; the label superbloom.game.query=minecraft:25565 lets the hub see who plays.',
    prefix: 'GAMES',
    settings: [],
    fixed: { GAMES_DISCOVER: 'true' },
    kind: 'container engine',
    isRepeatable: false,
  },
  metrics({
    name: 'prometheus',
    title: 'Prometheus',
    about: 'Its queries and alerts.',
    settings: [address('http://localhost:9090'), ...login],
    probe: { ports: [9090], path: '/api/v1/status/buildinfo', recognise: RECOGNISED.prometheus },
  }),
  metrics({
    name: 'alertmanager',
    title: 'Alertmanager',
    about: 'Alerts that fire, and silences.',
    settings: [address('http://localhost:9093'), ...login],
    probe: { ports: [9093], path: '/api/v2/status', recognise: RECOGNISED.alertmanager },
  }),
  metrics({
    name: 'node-exporter',
    title: 'node-exporter',
    about: 'Figures of another machine: processor, memory, disks.',
    settings: [{ ...address('http://nas:9100'), where: 'Of that machine, without /metrics.' }, ...login],
    probe: { ports: [9100], path: '/', recognise: RECOGNISED.nodeExporter },
  }),
  channel({
    name: 'ntfy',
    title: 'ntfy',
    about: "Messages in ntfy's app on your phone, with buttons where it reaches the hub.",
    prefix: 'NTFY',
    kind: 'ntfy',
    settings: [
      {
        key: 'URL',
        label: 'Address with topic',
        where:
          'The server, a slash, and a topic that nobody guesses: without a login, whoever knows it can read along. Subscribe to it in the app.',
        initial: 'https://ntfy.sh/',
      },
      {
        key: 'TOKEN',
        label: 'Token',
        where: 'Only where the topic wants a login. In ntfy: Account, Access tokens.',
        isSecret: true,
        isOptional: true,
      },
    ],
    probe: { ports: [2586, 80, 8080], path: '/v1/health', recognise: RECOGNISED.ntfy },
  }),
  channel({
    name: 'discord',
    title: 'Discord',
    about: 'Messages in a channel of a Discord server, without buttons.',
    prefix: 'DISCORD',
    kind: 'discord-webhook',
    settings: [
      {
        key: 'WEBHOOK_URL',
        label: 'Webhook',
        where: 'In Discord: the channel, Edit, Integrations, Webhooks, Copy URL.',
        isSecret: true,
      },
    ],
  }),
  channel({
    name: 'email',
    title: 'E-mail',
    about: 'Mails through your mail provider, without buttons.',
    prefix: 'SMTP',
    kind: 'email',
    settings: [
      {
        key: 'URL',
        label: 'Mail server',
        where:
          "Of your mail provider: smtps://host encrypts from the start, smtp://host:587 does so with 'STARTTLS'.",
        initial: 'smtps://',
      },
      { key: 'USER', label: 'User', where: 'Mostly your mail address.', isOptional: true },
      {
        key: 'PASSWORD',
        label: 'Password',
        where: 'Many providers want one made for programs (app password).',
        isSecret: true,
        isOptional: true,
      },
      { key: 'FROM', label: 'Sender', where: 'The mail address that it sends from.' },
      { key: 'TO', label: 'Who gets them', where: 'Mail addresses between commas.' },
    ],
  }),
]
