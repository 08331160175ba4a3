import { expect, test } from 'vitest'
import { commandsFor } from './composer-help.ts'

test.each([
  ['/', ['/help', '/stop', '/new', '/reset']],
  ['/s', ['/stop']],
  ['/stop', ['/stop']],
  ['/stop it', []],
  ['/reset', ['/reset']],
  ['/new the disks', ['/new']],
  ['/reset the disks are new', ['/reset']],
  ['/etc/hosts', []],
  ['stop', []],
  ['', []],
])('%s hints at %j', (text, names) => {
  expect(commandsFor(text).map(({ name }) => name)).toEqual(names)
})
