/** @import { Store } from './types.d.ts' */
import { useEffect, useState } from 'preact/hooks'

/**
 * Returns the store's value, and draws the component again when it changes.
 * @template Value
 * @param {Store<Value>} store
 * @returns {Value}
 */
export function useStore(store) {
  const [, redraw] = useState({})
  useEffect(() => {
    const before = store.get()
    const stop = store.subscribe(() => redraw({}))
    if (store.get() !== before) redraw({})
    return stop
  }, [store])
  return store.get()
}

/** Returns true while the media query matches. @param {string} query */
export function useMedia(query) {
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

/**
 * Calls `run` once at the given time, while the component is shown.
 * @param {number | null} at unix milliseconds; never for null or the past
 * @param {() => void} run
 */
export function useAt(at, run) {
  useEffect(() => {
    const delay = (at ?? 0) - Date.now()
    if (delay <= 0 || delay > 2 ** 31 - 1) return
    const timer = setTimeout(run, delay)
    return () => clearTimeout(timer)
  }, [at])
}

/**
 * Returns the time, updated every `interval` milliseconds while the component is shown and the page is
 * visible. With 0 it stands still.
 * @param {number} interval
 */
export function useNow(interval) {
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
