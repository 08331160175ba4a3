import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { makeTempFolder } from '../../tests/support/temp-store.ts'
import { createRecord } from '../../tests/support/until.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { type Changed, watchFiles } from './watch.ts'

/** Milliseconds without a change before it is reported. */
const QUIET_MS = 150

async function openWatch(folders = ['agents', 'servers', 'servers/files'], clock: Clock = systemClock) {
  const folder = makeTempFolder()
  const path = (...parts: string[]) => join(folder.path, ...parts)
  for (const each of folders) mkdirSync(path(each))
  writeFileSync(path('superbloom.yaml'), '')
  const changes = createRecord<Changed>()
  const watching = await watchFiles(
    { configFile: path('superbloom.yaml'), agentsFolder: path('agents'), dropInsFolder: path('servers') },
    {
      clock,
      log: createLog({ level: 'error', now: systemClock.now, write: line => expect.unreachable(line) }),
      onChange: what => changes.add(what),
    },
  )
  /** Does something, and waits until such a change is reported. */
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
  const clock = createFakeClock()
  await using watch = await openWatch(['agents', 'servers'], clock)
  for (let count = 0; count < 20; count++) writeFileSync(watch.path('agents', `a${count}.md`), 'Hi')
  let from = 0
  for (let seen = 0; seen < 20; seen++) from = await clock.armed(QUIET_MS, from)
  clock.advance(QUIET_MS - 1)
  expect(watch.changes).toEqual([])
  clock.advance(1)
  expect(watch.changes).toEqual(['agents'])
})

test.for(['agents', 'servers'])('%s that is removed and made again is watched again', async name => {
  await using watch = await openWatch()
  const { path, after } = watch
  const what = name === 'agents' ? 'agents' : 'drop-ins'
  const write = (round: number) => {
    mkdirSync(path(name, 'files'), { recursive: true })
    writeFileSync(path(name, 'a.md'), `${round}`)
    writeFileSync(path(name, 'files', 'mcp.json'), `${round}`)
  }
  write(0)
  for (let round = 1; round <= 3; round++) {
    await after(what, () => rmSync(path(name), { recursive: true }))
    await after(what, () => write(round))
    await after(what, () => writeFileSync(path(name, name === 'agents' ? 'a.md' : 'files/mcp.json'), 'again'))
  }
})

test.for(['agents', 'servers', 'servers/files'])(
  '%s that is made again at once is watched again',
  async name => {
    await using watch = await openWatch()
    const { path, after } = watch
    const what = name === 'agents' ? 'agents' : 'drop-ins'
    const file = name === 'agents' ? path('agents', 'a.md') : path('servers', 'files', 'mcp.json')
    for (let round = 1; round <= 3; round++) {
      await after(what, () => {
        rmSync(path(name), { recursive: true })
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, `${round}`)
      })
      await after(what, () => writeFileSync(file, 'again'))
      await after(what, () => rmSync(file))
    }
  },
)

test('folders that are missing at the start are watched once they are made', async () => {
  await using watch = await openWatch([])
  const { path, after } = watch
  await after('drop-ins', () => {
    mkdirSync(path('servers', 'files'), { recursive: true })
    writeFileSync(path('servers', 'files', 'mcp.json'), '{}')
  })
  await after('drop-ins', () => writeFileSync(path('servers', 'files', 'mcp.json'), '{ }'))
  await after('agents', () => mkdirSync(path('agents')))
  await after('agents', () => writeFileSync(path('agents', 'a.md'), 'Hi'))
})
