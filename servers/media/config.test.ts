import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  jellyfinSpec,
  radarrSpec,
  readMediaSettings,
  seerrSpec,
  settingsTable,
  sonarrSpec,
} from './config.ts'

test('several of each, by name', () => {
  const environment = {
    RADARR_URL: 'http://nas:7878/',
    RADARR_API_KEY: 'one',
    RADARR_4K_URL: 'http://nas:7879/radarr',
    RADARR_4K_API_KEY: 'two',
    RADARR_4K_ACCESS: 'read',
    RADARR_4K_QUALITY_PROFILE: 'Ultra-HD',
    MEDIA_TIMEZONE: 'Europe/Berlin',
  }
  const settings = readMediaSettings(environment)
  expect(settings.radarrs.map(({ name }) => name)).toEqual(['radarr', '4k'])
  expect(settings.radarrs[1]?.settings).toMatchObject({ ACCESS: 'read', QUALITY_PROFILE: 'Ultra-HD' })
  expect(settings.timezone()).toBe('Europe/Berlin')
  expect(settings.jellyfins).toEqual([])
})

test.each([
  [
    { MEDIA_TIMEZONE: 'Mars/Olympus' },
    /MEDIA_TIMEZONE is "Mars\/Olympus", but it must be a name such as "Europe\/Berlin"/,
  ],
  [{ MEDIA_LIBRARY_INTERVAL: '0' }, /MEDIA_LIBRARY_INTERVAL/],
])('%j is refused with what to do', (environment, message) => {
  expect(() => readMediaSettings(environment)).toThrow(message)
})

test('a wrong address or a missing key disables only that program', () => {
  const { jellyfins, sonarrs, radarrs } = readMediaSettings({
    JELLYFIN_URL: 'http://nas:8096',
    SONARR_URL: 'nas:port',
    SONARR_API_KEY: 'x',
    RADARR_URL: 'nas:7878',
    RADARR_API_KEY: 'x',
  })
  expect(jellyfins[0]?.problem).toMatch(/JELLYFIN_API_KEY is not set.*Jellyfin: Dashboard > API Keys/)
  expect(sonarrs[0]?.problem).toMatch(/SONARR_URL/)
  expect([radarrs[0]?.problem, radarrs[0]?.settings.URL]).toEqual([undefined, 'http://nas:7878'])
})

test('the README tells every setting, and back', () => {
  const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
  const specs = [jellyfinSpec, radarrSpec, sonarrSpec, seerrSpec]
  const names = [
    ...Object.keys(settingsTable),
    ...specs.flatMap(({ prefix, settings }) => Object.keys(settings).map(key => `${prefix}_${key}`)),
  ]
  const told = [...readme.matchAll(/^\| `([A-Z_]+)`/gm)].map(match => match[1])
  expect(told.sort()).toEqual(names.sort())
})
