import { isTimezone } from '../../schemas/timezone.ts'
import { accessSetting } from '../kit/access.ts'
import {
  type Environment,
  readSettings,
  type Setting,
  type SettingsTable,
  spanSetting,
  textSetting,
} from '../kit/env.ts'
import { type Instance, type InstanceSpec, readInstances } from '../kit/instances.ts'
import { required, secretSetting, urlSetting } from '../kit/settings.ts'

const SECOND = 1000
const DAY = 86_400_000

const connection = (title: string, where: string) => ({
  URL: required(urlSetting({ purpose: `the address of ${title}`, where: `what you open ${title} with` })),
  API_KEY: required(secretSetting({ purpose: `the key that ${title} asks for`, where })),
  ACCESS: accessSetting(),
})

const choices = (title: string) => ({
  QUALITY_PROFILE: textSetting({
    purpose: `the quality profile of what is added, by its name in ${title}; default its first`,
    form: 'a name of at most 100 letters',
    pattern: /^.{1,100}$/,
  }),
  ROOT_FOLDER: textSetting({
    purpose: `the root folder of what is added, as ${title} shows it; default the one with the most space`,
    form: 'a path such as "/data/media"',
    pattern: /^.{1,500}$/,
  }),
})

/**
 * JELLYFIN_URL, JELLYFIN_API_KEY and JELLYFIN_ACCESS; JELLYFIN_<NAME>_URL and so on for further instances.
 */
export const jellyfinSpec = {
  title: 'Jellyfin',
  prefix: 'JELLYFIN',
  settings: connection('Jellyfin', 'Jellyfin: Dashboard > API Keys'),
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

export const radarrSpec = {
  title: 'Radarr',
  prefix: 'RADARR',
  settings: { ...connection('Radarr', 'Radarr: Settings > General > Security'), ...choices('Radarr') },
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

export const sonarrSpec = {
  title: 'Sonarr',
  prefix: 'SONARR',
  settings: { ...connection('Sonarr', 'Sonarr: Settings > General > Security'), ...choices('Sonarr') },
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

/** Settings of Seerr. Overseerr and Jellyseerr have the same API. */
export const seerrSpec = {
  title: 'Seerr',
  prefix: 'SEERR',
  settings: connection('Seerr', 'Seerr: Settings > General > API Key'),
} satisfies InstanceSpec<SettingsTable & { URL: Setting<string> }>

const timezoneSetting: Setting<string | undefined> = {
  schema: textSetting({ purpose: '', form: '', pattern: /./ }).schema.refine(
    name => name !== undefined && isTimezone(name),
  ),
  default: undefined,
  purpose: "the time zone of times and of a calendar's day; default the one of this machine",
  form: 'a name such as "Europe/Berlin"',
}

/**
 * The settings of this server besides those of its upstreams. A test compares them with the README's list.
 */
export const settingsTable = {
  MEDIA_SESSIONS_INTERVAL: spanSetting({
    purpose: 'how often Jellyfin is asked what is playing',
    default: '15s',
    min: SECOND,
    max: DAY,
  }),
  MEDIA_LIBRARY_INTERVAL: spanSetting({
    purpose: 'how often Jellyfin is asked what is new in its libraries',
    default: '1m',
    min: SECOND,
    max: DAY,
  }),
  MEDIA_TIMEZONE: timezoneSetting,
} satisfies SettingsTable

export type JellyfinSettings = Instance<typeof jellyfinSpec.settings>
export type SeerrSettings = Instance<typeof seerrSpec.settings>

export type MediaSettings = ReturnType<typeof readMediaSettings>

/** Reads and checks all settings. Throws SettingsError. */
export function readMediaSettings(environment: Environment) {
  const own = readSettings(settingsTable, environment)
  return {
    own,
    /** Returns the IANA name, read at the first use because the tables of zones take memory. */
    timezone: () => own.MEDIA_TIMEZONE ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    jellyfins: readInstances(jellyfinSpec, environment),
    radarrs: readInstances(radarrSpec, environment),
    sonarrs: readInstances(sonarrSpec, environment),
    seerrs: readInstances(seerrSpec, environment),
  }
}
