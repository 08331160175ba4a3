import { PerformanceObserver, performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { Clock } from '../core/clock.ts'

/** How long a process is looked at after its start, milliseconds. */
const STARTED_MS = 2_000
/** And after work. V8 forgets what it knew of objects that are gone: some hundred calls are slower then, by 0.1 ms. */
const REST_MS = 10_000
/** A process that is busy for less of that time is at rest. */
const BUSY = 0.005
/** What the process has to have grown by, bytes: less is not worth a pause of some 80 ms. */
const WORTH_IT = 4e6

/** What is asked of V8 and of Node's event loop. */
export interface Heap {
  /** What the process holds of memory, bytes. */
  size(): number
  /** Collects all garbage, and gives back what is free. */
  clearUp(): void
  /** Calls back at every collection that V8 makes from now on, until the returned function is called. */
  onCollected(run: () => void): () => void
  /** Begins to measure; the returned function says which part of the time since then the process was busy. */
  measure(): () => number
}

/**
 * Gives memory back each time the process comes to rest. V8 keeps what work left until more work needs the room: 150 MB
 * after some thousand calls, for as long as nobody calls. Where it collects nothing there is no work: then nothing is
 * done, and while there is much, a look at the busy time every ten seconds.
 */
export function clearUpAtRest(clock: Clock, heap: Heap = processHeap): Disposable {
  let kept = 0
  let stop: () => void
  const look = (time: number) => {
    const readBusy = heap.measure()
    stop = clock.after(time, () => {
      if (readBusy() > BUSY) return look(time)
      if (heap.size() > kept + WORTH_IT) {
        heap.clearUp()
        kept = heap.size()
      }
      stop = heap.onCollected(() => {
        stop()
        look(REST_MS)
      })
    })
  }
  look(STARTED_MS)
  return { [Symbol.dispose]: () => stop() }
}

export const processHeap: Heap = {
  // What V8 has collected by itself it keeps for later: that is in no statistics of its own.
  size: () => process.memoryUsage.rss(),
  clearUp() {
    // Without a flag at the start Node offers no other way.
    v8.setFlagsFromString('--expose-gc')
    const collect = "gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })"
    // The second time takes what the first only let go of: one MB or two.
    vm.runInNewContext(`${collect}; ${collect}`)
  },
  onCollected(run) {
    const since = performance.now()
    // An observer is told of a collection that has just ended, too.
    const observer = new PerformanceObserver(list => {
      if (list.getEntries().some(({ startTime }) => startTime >= since)) run()
    })
    observer.observe({ entryTypes: ['gc'] })
    return () => observer.disconnect()
  },
  measure() {
    const before = performance.eventLoopUtilization()
    return () => performance.eventLoopUtilization(before).utilization
  },
}
