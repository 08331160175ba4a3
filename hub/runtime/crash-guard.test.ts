import { expect, test } from 'vitest'
import { createFakeClock } from '../../tests/support/fake-clock.ts'
import { changeRows } from '../../tests/support/read-rows.ts'
import { openTempStore } from '../../tests/support/temp-store.ts'
import { startTestHub } from '../../tests/support/test-hub.ts'
import { callHub } from '../cli/call-hub.ts'
import { examine } from '../cli/commands/doctor.ts'
import { createEnvironment } from '../config/environment.ts'
import { createIds } from '../core/ids.ts'
import { createLog } from '../core/log.ts'
import { createSignals, type SignalMap } from '../core/signals.ts'
import { openCrashGuard } from './crash-guard.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Something that happens in a run of the hub; the run then crashes, or ends in order at `end`. */
type Happens = 'cycle' | 'step' | 'half a minute' | 'end'

/** Opens a store for runs of the hub in sequence; after a crash, a run has no further effect. */
async function openRuns({ crashHold = true } = {}) {
  const store = await openTempStore()
  const clock = createFakeClock()
  const open = async () => {
    const signals = createSignals(() => undefined)
    const timers = new Set<() => void>()
    const deps = {
      store,
      clock: {
        ...clock,
        now: clock.now,
        after(delay: number, run: () => void) {
          const cancel = clock.after(delay, run)
          timers.add(cancel)
          return cancel
        },
      },
      signals,
      newId: createIds(clock.now),
      log: createLog({ level: 'error', now: clock.now, write: () => undefined }),
      config: { current: { crashHold, timezone: 'UTC' } },
    }
    const guard = await openCrashGuard(deps)
    const crash = () => {
      for (const cancel of timers) cancel()
    }
    return { guard, signals, crash }
  }
  /** Waits for all earlier writes, by a write after them. */
  const written = () => store.write(async () => undefined)
  return {
    store,
    clock,
    open,
    async run(...happens: Happens[]) {
      const { guard, signals, crash } = await open()
      for (const what of happens) {
        if (what === 'cycle') await guard.noteCycle()
        if (what === 'step') signals.emit('stepCommitted', { thread: 'thr_homelab' })
        if (what === 'half a minute') clock.advance(30 * SECOND)
        if (what === 'end') await guard[Symbol.asyncDispose]()
        await written()
      }
      crash()
      return guard.hold
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

const CRASH: Happens[] = ['cycle']

test.for<[string, Happens[][], boolean]>([
  ['three crashes while a cycle ran', [CRASH, CRASH, CRASH], true],
  ['three kills of an idle hub', [[], [], []], false],
  ['only two with a cycle, and an idle one', [CRASH, [], CRASH], false],
  ['an idle one between three with a cycle', [CRASH, [], CRASH, CRASH], true],
  ['only two', [CRASH, CRASH], false],
  ['one that ended in order between', [CRASH, ['cycle', 'end'], CRASH, CRASH], false],
  ['an idle one that ended in order between', [CRASH, CRASH, ['end'], CRASH], false],
  ['one that lasted longer', [CRASH, CRASH, ['cycle', 'half a minute']], false],
  ['one that committed a step', [['cycle', 'step'], CRASH, CRASH], false],
  ['a step, and then another cycle in the same run', [CRASH, CRASH, ['cycle', 'step', 'cycle']], false],
])('%s: are the agents held?', async ([_, before, isHeld]) => {
  await using runs = await openRuns()
  for (const happens of before) await runs.run(...happens)
  expect((await runs.run()) !== undefined).toBe(isHeld)
})

test('the hold lasts over further starts, ends by itself 15 minutes after it began, and begins to count anew', async () => {
  await using runs = await openRuns()
  for (let crash = 1; crash <= 3; crash++) await runs.run(...CRASH)
  const began = runs.clock.now()
  expect(await runs.run('end')).toEqual({ since: began, until: began + 15 * MINUTE })
  runs.clock.advance(14 * MINUTE)
  const { guard, signals } = await runs.open()
  const released = new Promise<SignalMap['released']>(resolve => signals.on('released', resolve))
  expect(guard.hold).toEqual({ since: began, until: began + 15 * MINUTE })
  runs.clock.advance(MINUTE)
  expect(await released).toEqual({ by: 'the hub, after 15 minutes' })
  expect(guard.hold).toBeUndefined()
  await guard[Symbol.asyncDispose]()
  for (const isHeld of [false, false, false, true]) {
    expect((await runs.run(...CRASH)) !== undefined).toBe(isHeld)
  }
})

test('a hold that ended while the hub was down is over at its next start', async () => {
  await using runs = await openRuns()
  for (let crash = 1; crash <= 3; crash++) await runs.run(...CRASH)
  expect(await runs.run()).toBeDefined()
  runs.clock.jump(15 * MINUTE)
  expect(await runs.run()).toBeUndefined()
})

test('SUPERBLOOM_CRASH_HOLD=0 turns it off', async () => {
  await using runs = await openRuns({ crashHold: false })
  for (let crash = 1; crash <= 4; crash++) expect(await runs.run(...CRASH)).toBeUndefined()
})

test('a hub whose agents are held says so and until when, and lets them go by itself', async () => {
  const clock = createFakeClock()
  await using hub = await startTestHub({ overrides: { clock } })
  await hub.stop()
  changeRows(hub.stored, "insert into hub_state (key, value_json) values ('crash_runs', '3')")
  await hub.start()
  const since = clock.now()
  const { text, structured } = await callHub(hub, 'hub_status', {})
  expect(text).toMatch(/^HELD: .* until 2026-11-21T22:15:00Z/)
  expect(structured).toMatchObject({ held: { since, until: since + 15 * MINUTE } })
  const found = await examine(createEnvironment(hub.variables))
  expect(found).toContainEqual({ level: 'problem', what: expect.stringMatching(/^agents: HELD: /) })
  clock.advance(15 * MINUTE)
  await hub.logs.find('the agents are let go', ({ event }) => event === 'agents_released')
  expect((await callHub(hub, 'hub_status', {})).text).not.toContain('HELD')
})
