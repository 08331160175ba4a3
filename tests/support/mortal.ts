import type { Write } from '../../hub/store/writer.ts'

/** The end of a run as by kill -9: before or after its write number `write`, counted from 1. */
export interface Death {
  write: number
  when: 'before' | 'after'
}

/** Wraps `write` so that writes of a killed run never return, unless the run is revived. */
export function makeMortal(write: Write, death: Death | undefined) {
  let count = 0
  let dead = false
  const died = Promise.withResolvers<void>()
  const stopped: (() => void)[] = []
  const inFlight = new Set<Promise<unknown>>()
  const die = () => {
    dead = true
    // A database that was asked to commit does so, before or after it is asked anything else.
    void Promise.allSettled(inFlight).then(() => died.resolve())
  }
  const standStill = () => new Promise<void>(resolve => stopped.push(resolve))
  const mortal: Write = async job => {
    const mine = ++count
    if (death?.when === 'before' && death.write === mine) die()
    if (dead) await standStill()
    const writing = write(job)
    inFlight.add(writing)
    const result = await writing.finally(() => inFlight.delete(writing))
    if (death?.when === 'after' && death.write === mine) die()
    if (dead) await standStill()
    return result
  }
  const revive = () => {
    dead = false
    for (const goOn of stopped.splice(0)) goOn()
  }
  return { write: mortal, writes: () => count, kill: die, revive, died: died.promise }
}
