import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createRecord } from '../../tests/support/until.ts'
import { systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { type Changed, watchFiles } from './watch.ts'

async function openWatch() {
  const folder = makeTempFolder()
  const path = (...parts: string[]) => join(folder.path, ...parts)
  for (const each of ['agents', 'servers', 'servers/files']) mkdirSync(path(each))
  writeFileSync(path('superbloom.yaml'), '')
  const changes = createRecord<Changed>()
  const watching = await watchFiles(
    { configFile: path('superbloom.yaml'), agentsFolder: path('agents'), dropInsFolder: path('servers') },
    {
      clock: systemClock,
      log: createLog({ level: 'error', now: systemClock.now, write: line => expect.unreachable(line) }),
      onChange: what => changes.add(what),
    },
  )
  /** Does something, and waits until such a change is told. */
  const after = async (what: Changed, act: () => void) => {
    const from = changes.all.length
    act()
    await changes.find(`a change of ${what} is told`, each => each === what, from)
  }
  return {
    path,
    changes: changes.all,
    after,
    async [Symbol.asyncDispose]() {
      await watching[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test('changes of the config, the agents and the drop-ins are told, however an editor makes them', async () => {
  await using watch = await openWatch()
  const { path, after } = watch
  await after('config', () => writeFileSync(path('superbloom.yaml'), 'concurrency: 2'))
  await after('config', () => {
    writeFileSync(path('superbloom.yaml.tmp'), 'concurrency: 3')
    renameSync(path('superbloom.yaml.tmp'), path('superbloom.yaml'))
  })
  await after('config', () => rmSync(path('superbloom.yaml')))
  await after('config', () => writeFileSync(path('superbloom.yaml'), 'concurrency: 4'))
  await after('agents', () => writeFileSync(path('agents', 'new.md'), 'Hi'))
  await after('agents', () => rmSync(path('agents', 'new.md')))
  await after('drop-ins', () => writeFileSync(path('servers', 'files', 'mcp.json'), '{}'))
  await after('drop-ins', () => {
    mkdirSync(path('servers', 'more'))
    writeFileSync(path('servers', 'more', 'server.mjs'), '')
  })
  await after('drop-ins', () => rmSync(path('servers', 'files'), { recursive: true }))
})

test('what servers and people write beside them is told to nobody', async () => {
  await using watch = await openWatch()
  const { path, after } = watch
  writeFileSync(path('superbloom.db'), 'x')
  writeFileSync(path('agents', 'notes.txt'), 'x')
  writeFileSync(path('servers', 'files', 'server.log'), 'x')
  mkdirSync(path('servers', 'files', 'node_modules'))
  writeFileSync(path('servers', 'files', 'node_modules', 'server.js'), 'x')
  await after('agents', () => writeFileSync(path('agents', 'a.md'), 'Hi'))
  await after('drop-ins', () => writeFileSync(path('servers', 'files', 'mcp.json'), '{}'))
  expect(watch.changes).toEqual(['agents', 'drop-ins'])
})

test('many writes at once are one change', async () => {
  await using watch = await openWatch()
  await watch.after('agents', () => {
    for (let count = 0; count < 20; count++) writeFileSync(watch.path('agents', `a${count}.md`), 'Hi')
  })
  await watch.after('config', () => writeFileSync(watch.path('superbloom.yaml'), '# x'))
  expect(watch.changes).toEqual(['agents', 'config'])
})
