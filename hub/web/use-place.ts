import { useEffect, useState } from 'preact/hooks'
import { placeInAddress, showPlaceInAddress } from './address.ts'
import { findPlace } from './places.ts'

/** Returns the place that the address names, and a function that opens one; null returns to the chat. */
export function usePlace() {
  const [path, setPath] = useState(placeInAddress)
  useEffect(() => {
    const onStep = () => setPath(placeInAddress())
    addEventListener('popstate', onStep)
    addEventListener('hashchange', onStep)
    return () => {
      removeEventListener('popstate', onStep)
      removeEventListener('hashchange', onStep)
    }
  }, [])
  const open = (next: string | null) => {
    if (next !== null) showPlaceInAddress(next)
    setPath(next)
  }
  return [findPlace(path), open] as const
}
