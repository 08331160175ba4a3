import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { childEnvironment, createEnvironment, listSecrets } from './environment.ts'

test('a variable, or the file that its twin names', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, '  s3cret\n')
  writeFileSync(join(folder.path, 'empty'), '\n')
  const read = createEnvironment({
    DIRECT: 'a',
    BOTH: 'direct',
    BOTH_FILE: file,
    TWIN_FILE: file,
    BLANK: '',
    BLANK_FILE: file,
    EMPTY: '',
    NOTHING_FILE: join(folder.path, 'empty'),
    UNSET_FILE: '',
  })
  const names = ['DIRECT', 'BOTH', 'TWIN', 'BLANK', 'EMPTY', 'NOTHING', 'UNSET', 'MISSING']
  expect(names.map(read)).toEqual([
    'a',
    'direct',
    's3cret',
    's3cret',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a twin that cannot be read is named with its file, and nothing of any value', () => {
  const read = createEnvironment({ OPENAI_API_KEY_FILE: '/nowhere/key' })
  expect(() => read('OPENAI_API_KEY')).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      message: 'OPENAI_API_KEY_FILE: /nowhere/key cannot be read: ENOENT',
    }),
  )
})

test("promise 10: a child sees the system's variables and its own, not the hub's secrets", () => {
  const variables = {
    PATH: '/bin',
    HOME: '/home/x',
    OPENAI_API_KEY: 'sk',
    SUPERBLOOM_TOKEN: 't',
    METRICS_A: '1',
    GONE: undefined,
  }
  expect(childEnvironment(undefined, variables)).toEqual({ PATH: '/bin', HOME: '/home/x' })
  expect(childEnvironment(['METRICS_'], variables)).toEqual({ PATH: '/bin', HOME: '/home/x', METRICS_A: '1' })
})

test('the secrets of config and environment are those that go by the name of one, and are long enough', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, 'secret-of-a-file\n')
  const config = {
    token: 'the-hubs-own-token',
    name: 'not-a-secret-at-all',
    store: 'postgres://hub:secret-of-the-store@db:5432/superbloom',
    webhooks: { door: { secret: 'secret-of-the-door' } },
    servers: { x: { headers: { Authorization: 'Bearer secret-of-a-header' }, env: { API_KEY: 'short' } } },
  }
  const variables = {
    MISTRAL_API_KEY: 'secret-of-the-provider',
    RADARR_API_KEY_FILE: file,
    AWS_WEB_IDENTITY_TOKEN_FILE: join(folder.path, 'missing'),
    PATH: '/usr/bin:/usr/local/bin',
  }
  expect(listSecrets(config, variables).sort()).toEqual([
    'Bearer secret-of-a-header',
    'secret-of-a-file',
    'secret-of-a-header',
    'secret-of-the-door',
    'secret-of-the-provider',
    'secret-of-the-store',
    'the-hubs-own-token',
  ])
})
