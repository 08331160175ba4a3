import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { openDataFolder } from './data-folder.ts'

test('a data folder is made with those above it, for its owner alone', () => {
  using folder = makeTempFolder()
  const data = join(folder.path, 'a', 'b')
  openDataFolder(data)
  openDataFolder(data)
  expect(statSync(data).mode & 0o777).toBe(0o700)
})

test('a file is no data folder, and none can be made below one', () => {
  using folder = makeTempFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  for (const data of [file, join(file, 'data')]) {
    expect(() => openDataFolder(data)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        message: `The data folder ${data} cannot be used: ${file} is not a folder. Name another folder with SUPERBLOOM_DATA.`,
      }),
    )
  }
})

test.runIf(process.platform === 'linux')(
  'a data folder in /proc is refused, instead of being tried forever',
  () => {
    expect(() => openDataFolder('/proc/no-such-folder/data')).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        message: expect.stringMatching(
          /^The data folder \/proc\/no-such-folder\/data cannot be (made|used): /,
        ),
      }),
    )
  },
)
