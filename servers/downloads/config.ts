import { accessSetting } from '../kit/access.ts'
import {
  type Environment,
  numberSetting,
  readSettings,
  type Setting,
  type SettingsTable,
  spanSetting,
  textSetting,
  thresholdSetting,
} from '../kit/env.ts'
import { type Instance, type InstanceSpec, readInstances } from '../kit/instances.ts'
import { required, secretSetting, urlSetting } from '../kit/settings.ts'
import { findStateFile } from '../kit/state-file.ts'

const GIB = 2 ** 30
const HOUR = 3_600_000

/** Every setting of this server besides those of the clients. A test compares them with the README's list. */
export const settingsTable = {
  DOWNLOADS_INTERVAL: spanSetting({
    purpose: 'how often the watchers ask each client',
    default: '15s',
    min: 50,
    max: HOUR,
  }),
  DOWNLOADS_DISK_FREE: thresholdSetting({
    purpose:
      'the free space (GiB) below which disk_full_warning is raised; 0 warns only where the queue needs more',
    default: '5',
    min: 0,
    max: 1_000_000,
  }),
  DOWNLOADS_DISK_CLEAR: numberSetting({
    purpose: 'how much more must be free (GiB) before disk_full_warning can be raised again',
    default: '1',
    min: 0,
    max: 1_000_000,
  }),
  DOWNLOADS_STATE: textSetting({
    purpose:
      'the file that holds which timed pauses of torrent clients end when, and what was added to SABnzbd',
    form: 'an absolute path, such as "/data/downloads.json"',
    pattern: /^\//,
  }),
  SUPERBLOOM_DATA: textSetting({
    purpose: 'the folder of that file, where it has no path of its own; the hub sets its own folder',
    form: 'a path',
    pattern: /./,
  }),
} satisfies SettingsTable & Record<string, Setting<unknown>>

export const sabnzbdSpec = {
  title: 'SABnzbd',
  prefix: 'SABNZBD',
  settings: {
    URL: required(
      urlSetting({ purpose: 'the address of SABnzbd', where: 'the address of its page in your browser' }),
    ),
    API_KEY: required(
      secretSetting({
        purpose: "SABnzbd's API key (the NZB key can only add)",
        where: 'SABnzbd: Config > General > API Key',
      }),
    ),
    ACCESS: accessSetting(),
  },
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

export const qbittorrentSpec = {
  title: 'qBittorrent',
  prefix: 'QBITTORRENT',
  settings: {
    URL: required(
      urlSetting({
        purpose: "the address of qBittorrent's web interface",
        where: 'qBittorrent: Options > Web UI (WebUI)',
      }),
    ),
    USERNAME: secretSetting({
      purpose: 'the user of its web interface; leave it out where it asks this machine for none',
      where: 'qBittorrent: Options > Web UI (WebUI) > Authentication',
    }),
    PASSWORD: secretSetting({
      purpose: 'the password of that user',
      where: 'qBittorrent: Options > Web UI (WebUI) > Authentication',
    }),
    ACCESS: accessSetting(),
  },
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

export const transmissionSpec = {
  title: 'Transmission',
  prefix: 'TRANSMISSION',
  settings: {
    URL: required(
      urlSetting({
        purpose: 'the address of Transmission, such as "http://nas:9091"',
        where: 'rpc-port and rpc-url in its settings.json',
      }),
    ),
    USERNAME: secretSetting({
      purpose: 'the user, where it asks for one',
      where: 'rpc-username in its settings.json',
    }),
    PASSWORD: secretSetting({ purpose: 'the password of that user', where: 'where it was set up' }),
    ACCESS: accessSetting(),
  },
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

export type SabnzbdInstance = Instance<(typeof sabnzbdSpec)['settings']>
export type QbittorrentInstance = Instance<(typeof qbittorrentSpec)['settings']>
export type TransmissionInstance = Instance<(typeof transmissionSpec)['settings']>

export type DownloadsSettings = ReturnType<typeof readDownloadsSettings>

/** Reads and checks all settings. Throws SettingsError. */
export function readDownloadsSettings(environment: Environment) {
  const read = readSettings(settingsTable, environment)
  const free = read.DOWNLOADS_DISK_FREE
  return {
    /** Milliseconds. */
    interval: read.DOWNLOADS_INTERVAL,
    /** Bytes; undefined turns the warning off. */
    diskFree: free === undefined ? undefined : free * GIB,
    /** Bytes. */
    diskClear: read.DOWNLOADS_DISK_CLEAR * GIB,
    /** Undefined if no state is kept over a restart. */
    stateFile: read.DOWNLOADS_STATE ?? findStateFile('downloads.json', environment),
    sabnzbd: readInstances(sabnzbdSpec, environment),
    qbittorrent: readInstances(qbittorrentSpec, environment),
    transmission: readInstances(transmissionSpec, environment),
  }
}
