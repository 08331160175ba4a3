import { useEffect, useState } from 'preact/hooks'
import type { Link } from './connection.ts'
import type { Session } from './session.ts'

/** Milliseconds without any sign of the person, after which nobody sits before the page. */
const AWAY_MS = 2 * 60_000
const SIGNS = ['visibilitychange', 'pointerdown', 'pointermove', 'keydown', 'wheel']

/** Tells the hub what the person looks at, so that it sends no notification of that. */
export function usePresence(session: Session, link: Link, current: string | null) {
  const isPresent = usePresent()
  const isOpen = link.status === 'open'
  const looked = isPresent ? current : null
  useEffect(() => {
    if (isOpen) session.look(looked)
  }, [session, isOpen, looked])
}

function usePresent(): boolean {
  const [isPresent, setPresent] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = () => {
      clearTimeout(timer)
      const isVisible = document.visibilityState === 'visible'
      setPresent(isVisible)
      if (isVisible) timer = setTimeout(() => setPresent(false), AWAY_MS)
    }
    update()
    for (const name of SIGNS) document.addEventListener(name, update, { passive: true })
    return () => {
      clearTimeout(timer)
      for (const name of SIGNS) document.removeEventListener(name, update)
    }
  }, [])
  return isPresent
}
