import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { readOrMakeToken, tokenFile } from './token.ts'

test('promise 10: a token is made once, for its owner alone', () => {
  using folder = makeTempFolder()
  const umask = process.umask(0)
  try {
    const token = readOrMakeToken(tokenFile(folder.path))
    expect(token).toMatch(/^\w/)
    expect(token).toMatch(/^[\w-]{32}$/)
    expect(statSync(tokenFile(folder.path)).mode & 0o777).toBe(0o600)
    expect(readFileSync(tokenFile(folder.path), 'utf8')).toBe(`${token}\n`)
    expect(readOrMakeToken(tokenFile(folder.path))).toBe(token)
  } finally {
    process.umask(umask)
  }
})

test('one that a person wrote is taken; an empty file, as a crash leaves it, is filled', () => {
  using folder = makeTempFolder()
  writeFileSync(tokenFile(folder.path), ' my-own-token-of-length \n')
  expect(readOrMakeToken(tokenFile(folder.path))).toBe('my-own-token-of-length')
  writeFileSync(tokenFile(folder.path), '')
  chmodSync(tokenFile(folder.path), 0o644)
  expect(readOrMakeToken(tokenFile(folder.path))).toMatch(/^[\w-]{32}$/)
  expect(statSync(tokenFile(folder.path)).mode & 0o777).toBe(0o600)
})
