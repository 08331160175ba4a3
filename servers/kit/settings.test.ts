import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Environment, readSettings } from './env.ts'
import {
  choiceSetting,
  jsonSetting,
  listSetting,
  required,
  secretSetting,
  switchSetting,
  urlSetting,
} from './settings.ts'

const table = {
  URL: urlSetting({ purpose: 'the address', where: 'the browser' }),
  KEY: secretSetting({ purpose: 'the key', pattern: /^[0-9a-f]+$/, form: 'hexadecimal' }),
  ACCESS: choiceSetting({ purpose: 'the access', choices: ['read', 'full'], default: 'full' }),
  ON: switchSetting({ purpose: 'the switch' }),
  NAMES: listSetting({ purpose: 'the names', form: 'words', pattern: /^\w+$/ }),
  MAP: jsonSetting({ purpose: 'the map', schema: z.record(z.string(), z.int()), form: 'names and numbers' }),
}
const read = (environment: Environment) => readSettings(table, environment)

test('what is not set', () => {
  expect(read({})).toEqual({
    URL: undefined,
    KEY: undefined,
    ACCESS: 'full',
    ON: false,
    NAMES: [],
    MAP: undefined,
  })
})

test.each([
  [{ URL: 'HTTP://NAS:80/radarr//' }, { URL: 'http://nas/radarr' }],
  [{ URL: 'https://nas:8443' }, { URL: 'https://nas:8443' }],
  [{ KEY: ' abc1\n' }, { KEY: 'abc1' }],
  [{ ACCESS: 'read' }, { ACCESS: 'read' }],
  [{ ON: 'true' }, { ON: true }],
  [{ NAMES: 'a, b,,a' }, { NAMES: ['a', 'b'] }],
  [{ MAP: '{"a":1}' }, { MAP: { a: 1 } }],
])('reads %j', (environment, expected) => {
  expect(read(environment)).toMatchObject(expected)
})

test.each([
  [
    { URL: 'ftp://nas' },
    /URL is set to something else, but it must be an address.*Where to find it: the browser\./,
  ],
  [{ URL: 'http://me:hunter2@nas' }, /a password has a variable of its own/],
  [{ URL: 'http://nas?apikey=hunter2' }, /without a query/],
  [{ KEY: 'hunter2' }, /KEY is set to something else, but it must be hexadecimal/],
  [{ ACCESS: 'some' }, /ACCESS is "some", but it must be one of "read", "full"/],
  [{ ON: 'yes' }, /"true" or "false"/],
  [{ NAMES: 'a b' }, /words, separated by commas/],
  [{ MAP: '{' }, /JSON: names and numbers/],
  [{ MAP: '{"a":"b"}' }, /JSON: names and numbers/],
])('refuses %j, and shows no secret', (environment, message) => {
  expect(() => read(environment)).toThrow(message)
  expect(() => read(environment)).not.toThrow(/hunter2/)
})

test('a required setting that is missing says where to find it', () => {
  expect(() => readSettings({ URL: required(table.URL) }, {})).toThrow(
    /^URL is not set: it must be .* It sets the address. Where to find it: the browser.$/,
  )
})
