import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { readDropIns } from './drop-ins.ts'

test('a drop-in that is a symbolic link is shown as held, even where it leads nowhere', () => {
  using folder = makeTempFolder()
  const target = join(folder.path, 'elsewhere')
  const servers = join(folder.path, 'servers')
  mkdirSync(target)
  mkdirSync(servers)
  writeFileSync(join(target, 'server.js'), '')
  symlinkSync(target, join(servers, 'linked'))
  symlinkSync(join(folder.path, 'nowhere'), join(servers, 'lost'))
  const reason = 'is a symbolic link, which is not followed: put a folder with the files here'
  expect(readDropIns(servers, () => ({}))).toEqual([
    { name: 'linked', folder: join(servers, 'linked'), kind: 'held', reason },
    { name: 'lost', folder: join(servers, 'lost'), kind: 'held', reason },
  ])
})
