import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { openChatHistory } from './chat-history.ts'

test('lines come back the newest first, for the owner alone, without repeats and those with a leading space', () => {
  using folder = makeTempFolder()
  const first = openChatHistory(folder.path)
  for (const line of ['one', 'one', ' secret', '', 'pasted\ntext', 'two'])
    expect(first.add(line)).toBeUndefined()
  const other = openChatHistory(folder.path)
  other.add('three')
  first.add('four')
  expect(openChatHistory(folder.path).lines).toEqual(['four', 'three', 'two', 'one'])
  expect(first.lines).toEqual(['four', 'two', 'one'])
  expect(statSync(join(folder.path, 'chat-history')).mode & 0o777).toBe(0o600)
})

test('a long file is shortened', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'chat-history')
  writeFileSync(file, Array.from({ length: 3_001 }, (_, index) => `line ${index}\n`).join(''))
  expect(openChatHistory(folder.path).lines[0]).toBe('line 3000')
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(1_001)
})

test('a file that cannot be written is told', () => {
  expect(openChatHistory('/dev/null').add('one')).toContain('is not kept')
})
