import { PerformanceObserver, performance } from 'node:perf_hooks'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { Clock } from '../core/clock.ts'

/** Milliseconds after the start until the process is first checked. */
const STARTED_MS = 2_000
/** Milliseconds from work to a check. Clearing up costs V8 knowledge: some hundred calls take 0.1 ms more. */
const REST_MS = 10_000
/** Busy share of that time below which a process is at rest. */
const BUSY = 0.005
/** Bytes by which the process must have grown: less is not worth a pause of some 80 ms. */
const WORTH_IT = 4e6

/** Functions of V8 and of Node's event loop that clearing up uses. */
export interface Heap {
  /** Returns the memory of the process in bytes. */
  size(): number
  /** Collects all garbage, and gives free memory back. */
  clearUp(): void
  /** Calls `run` at every collection that V8 makes from now on, until the returned function is called. */
  onCollected(run: () => void): () => void
  /** Starts measuring; the returned function returns the busy share of the time since then. */
  measure(): () => number
}

/**
 * Gives memory back each time the process comes to rest. V8 keeps it until more work needs it: 150 MB after
 * some thousand calls, for as long as nobody calls. While V8 collects nothing there is no work, and nothing
 * is done; during much work, the busy time is checked every ten seconds.
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
  // V8's own statistics do not show the memory that it collected and keeps for later.
  size: () => process.memoryUsage.rss(),
  clearUp() {
    // Node offers no other way without a flag at the start.
    v8.setFlagsFromString('--expose-gc')
    const collect = "gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })"
    // The second collection frees one or two MB that the first only released.
    vm.runInNewContext(`${collect}; ${collect}`)
  },
  onCollected(run) {
    const since = performance.now()
    // The observer also reports a collection that has just ended.
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
