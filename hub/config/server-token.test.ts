import { statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createEnvironment } from './environment.ts'
import { openServerToken } from './server-token.ts'

test('each server has a token of its own, for its user alone, also where the owner’s is in the folder', () => {
  using folder = makeTempFolder()
  writeFileSync(join(folder.path, 'token'), 'token-of-the-owner')
  const environment = createEnvironment({ SUPERBLOOM_DATA: folder.path, SUPERBLOOM_TOKEN_FILE: '/nowhere' })
  const open = (name: string) => openServerToken(name, environment)
  const { token, from } = open('games')
  const file = join(folder.path, 'tokens', 'serve-games')
  expect(from).toBe(`in ${file}`)
  expect(token).toMatch(/^[\w-]{32}$/)
  expect(open('games').token).toBe(token)
  expect(open('media').token).not.toBe(token)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
})

test('a variable or its file sets it; one that no header can carry is refused without being shown', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'mine')
  writeFileSync(file, 'token-of-the-games-server\n')
  const open = (variables: Record<string, string>) => openServerToken('games', createEnvironment(variables))
  const expected = { token: 'token-of-the-games-server', from: 'what SUPERBLOOM_SERVER_TOKEN says' }
  expect(open({ SUPERBLOOM_SERVER_TOKEN_FILE: file })).toEqual(expected)
  expect(open({ SUPERBLOOM_SERVER_TOKEN: expected.token, SUPERBLOOM_TOKEN: 'token-of-the-owner' })).toEqual(
    expected,
  )
  const refused = /^SUPERBLOOM_SERVER_TOKEN: must be at least 16 (?!.*secret!)/
  expect(() => open({ SUPERBLOOM_SERVER_TOKEN: 'a very secret! one' })).toThrow(refused)
})
