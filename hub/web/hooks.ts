import { useEffect, useRef, useState } from 'preact/hooks'
import { createStore, type Store } from './store.ts'

/** Returns the store's value, and draws the component again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, redraw] = useState({})
  useEffect(() => {
    const before = store.get()
    const stop = store.subscribe(() => redraw({}))
    if (store.get() !== before) redraw({})
    return stop
  }, [store])
  return store.get()
}

/** Returns true while the media query matches. */
export function useMedia(query: string) {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const update = () => setMatches(list.matches)
    update()
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [query])
  return matches
}

/** Milliseconds after an announced try until its outcome is read. */
const OUTCOME = 2_000

/**
 * Calls `run` soon after the next of the announced tries (unix milliseconds), while the component is shown.
 * Returns whether one is still to come.
 */
export function useTries(tries: (number | undefined)[], run: () => void) {
  const outcomes = tries.map(at => (at ?? 0) + OUTCOME).filter(at => at > Date.now())
  const next = Math.min(...outcomes)
  useEffect(() => {
    if (next === Infinity) return
    const timer = setTimeout(run, Math.min(next - Date.now(), 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }, [next])
  return outcomes.length > 0
}

/**
 * Returns the time, updated every `interval` milliseconds while the component is shown and the page is
 * visible. With 0 it stands still.
 */
export function useNow(interval: number) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (interval === 0) return
    const tick = () => {
      if (document.visibilityState === 'visible') setNow(Date.now())
    }
    tick()
    const timer = setInterval(tick, interval)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [interval])
  return now
}

/**
 * Returns a store whose number changes every `interval` milliseconds, while the component is shown and the page
 * is visible.
 */
export function useTicks(interval: number): Store<number> {
  const now = useNow(interval)
  const [ticks] = useState(() => createStore(Math.floor(now / interval)))
  useEffect(() => ticks.set(Math.floor(now / interval)), [now])
  return ticks
}

/** Returns a ref of what came of an action; it is scrolled into sight with each `result` that is not false. */
export function useReveal(result: unknown) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (result !== false) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [result])
  return ref
}
