import type { FixtureHost } from '../../servers/metrics/machine/fixture-host.ts'
import { systemClock } from '../core/clock.ts'

/** Milliseconds between two updates of the counters. */
const BEAT_MS = 200

/** Advances a recorded machine of two cores, busy for a third of the time, until it is disposed. */
export function keepRunning(host: FixtureHost): Disposable {
  let cancel = systemClock.after(BEAT_MS, goOn)
  return { [Symbol.dispose]: () => cancel() }

  function goOn(): void {
    beat(host)
    cancel = systemClock.after(BEAT_MS, goOn)
  }
}

function beat(host: FixtureHost): void {
  const ticks = Math.floor(performance.now() / 10)
  const busy = Math.floor(ticks / 3)
  const core = `${busy} 0 0 ${ticks - busy} 0 0 0 0 0 0`
  const all = `${busy * 2} 0 0 ${(ticks - busy) * 2} 0 0 0 0 0 0`
  host.write('proc/stat', `cpu  ${all}\ncpu0 ${core}\ncpu1 ${core}\n`)
}
