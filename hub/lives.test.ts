import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { startTestHub } from '../tests/support/test-hub.ts'
import { isCrashLoop } from './lives.ts'

const crashed = { outlived: 0, stepped: 0, ended_at: null }

test.for([
  ['three that crashed at once', [crashed, crashed, crashed], true],
  ['more of them', [crashed, crashed, crashed, crashed], true],
  ['only two', [crashed, crashed], false],
  ['one that ended in order between', [crashed, { ...crashed, ended_at: 5 }, crashed, crashed], false],
  ['one that lived longer', [crashed, crashed, { ...crashed, outlived: 1 }], false],
  ['one that committed a step', [{ ...crashed, stepped: 1 }, crashed, crashed], false],
  ['none', [], false],
] as const)('%s: a crash loop? %o', ([_, lives, isLoop]) => {
  expect(isCrashLoop(lives)).toBe(isLoop)
})

/** A hub on a store in which the last lives ended as given. */
async function startAfter(lives: readonly (typeof crashed)[], variables: Record<string, string> = {}) {
  const hub = await startTestHub({ variables })
  await hub.stop()
  const database = new Database(`${hub.dataFolder}/superbloom.db`)
  database.prepare('delete from lives').run()
  for (const [index, life] of lives.entries()) {
    database
      .prepare('insert into lives (id, started_at, outlived, stepped, ended_at) values (?, ?, ?, ?, ?)')
      .run(`life_${index}`, index, life.outlived, life.stepped, life.ended_at)
  }
  database.close()
  await hub.start()
  return hub
}

const isHeld = (logs: { event: string }[]) => logs.some(({ event }) => event === 'agents_held')

test('the agents stay held over further starts in order', async () => {
  await using hub = await startAfter([crashed, crashed, crashed])
  expect(isHeld(hub.logs.all)).toBe(true)
  await hub.stop()
  await hub.start()
  expect(isHeld(hub.logs.all.slice(hub.startedFrom))).toBe(true)
})

test('SUPERBLOOM_CRASH_HOLD=0 turns it off', async () => {
  await using hub = await startAfter([crashed, crashed, crashed], { SUPERBLOOM_CRASH_HOLD: '0' })
  expect(isHeld(hub.logs.all)).toBe(false)
})
