import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Pixels from the end within which the reader counts as at the end. */
const NEAR = 64

/**
 * Keeps a scroller at its end while the reader is there, and else keeps the read rows in place. The element
 * takes `ref` and `onScroll`; its rows carry `data-row`, except those that move.
 */
export function useStickToEnd(canStick: boolean) {
  const ref = useRef<HTMLElement>(null)
  const sticks = useRef(true)
  const height = useRef(0)
  const [atEnd, setAtEnd] = useState(true)
  if (!canStick) sticks.current = false
  const anchor = sticks.current ? null : firstVisible(ref.current)

  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    if (sticks.current) element.scrollTop = element.scrollHeight
    else if (anchor?.row.isConnected) element.scrollTop += top(anchor.row) - anchor.top
  })

  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      height.current = element.clientHeight
      if (sticks.current) element.scrollTop = element.scrollHeight
    })
    observer.observe(element)
    // Pictures that load later make the content longer.
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [])

  return {
    ref,
    atEnd,
    isAtEnd: () => sticks.current,
    onScroll() {
      const element = ref.current
      // An element that changes its height, as a keyboard opens, scrolls without the reader; the observer is next.
      if (!element || element.clientHeight !== height.current) return
      const rest = element.scrollHeight - element.scrollTop - element.clientHeight
      sticks.current = canStick && rest < NEAR
      setAtEnd(sticks.current)
    },
    toEnd() {
      sticks.current = true
      setAtEnd(true)
      if (ref.current) ref.current.scrollTop = ref.current.scrollHeight
    },
  }
}

/** Returns the row at the upper edge and its position. */
function firstVisible(scroller: HTMLElement | null) {
  if (!scroller) return null
  const edge = top(scroller)
  for (const row of scroller.querySelectorAll('[data-row]')) {
    const box = row.getBoundingClientRect()
    if (box.bottom > edge) return { row, top: box.top }
  }
  return null
}

function top(element: Element) {
  return element.getBoundingClientRect().top
}
