import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettings, SettingsError, spanSetting, textSetting, thresholdSetting } from './env.ts'

const table = {
  A_PERCENT: thresholdSetting({ purpose: 'the use', default: '90', min: 1, max: 100 }),
  A_SPAN: spanSetting({ purpose: 'the time', default: '2m', min: 0, max: 86_400_000 }),
  A_NAME: textSetting({ purpose: 'the name', form: 'a word', pattern: /^\w+$/ }),
}

test('takes defaults where nothing, or nothing but emptiness, is set', () => {
  const settings = readSettings(table, { A_PERCENT: '' })
  expect(settings).toEqual({ A_PERCENT: 90, A_SPAN: 120_000, A_NAME: undefined })
  expect(Object.isFrozen(settings)).toBe(true)
})

test.each([
  [{ A_PERCENT: '42.5' }, { A_PERCENT: 42.5 }],
  [{ A_PERCENT: 'off' }, { A_PERCENT: undefined }],
  [{ A_SPAN: '0' }, { A_SPAN: 0 }],
  [{ A_SPAN: '250ms' }, { A_SPAN: 250 }],
  [{ A_NAME: 'nas' }, { A_NAME: 'nas' }],
])('reads %j', (environment, expected) => {
  expect(readSettings(table, environment)).toMatchObject(expected)
})

test('names everything that is wrong, what it is for and its form', () => {
  const read = () => readSettings(table, { A_PERCENT: '101', A_SPAN: 'soon', A_NAME: 'two words' })
  expect(read).toThrow(SettingsError)
  expect(read).toThrow(
    [
      'A_PERCENT is "101", but it must be a number from 1 to 100, or "off". It sets the use; default 90.',
      'A_SPAN is "soon", but it must be a span from 0ms to 1d, such as "2m". It sets the time; default 2m.',
      'A_NAME is "two words", but it must be a word. It sets the name.',
    ].join('\n'),
  )
})

test('reads the file that NAME_FILE names, and refuses two answers or none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-'))
  const file = join(folder, 'name')
  writeFileSync(file, 'nas\n')
  expect(readSettings(table, { A_NAME_FILE: file }).A_NAME).toBe('nas')
  expect(() => readSettings(table, { A_NAME_FILE: file, A_NAME: 'x' })).toThrow('both set')
  expect(() => readSettings(table, { A_NAME_FILE: join(folder, 'none') })).toThrow(
    'A_NAME_FILE cannot be read',
  )
  rmSync(folder, { recursive: true })
})
