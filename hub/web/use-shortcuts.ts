import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Adds shortcuts: `/` focuses the message box from anywhere, Escape closes the panel. */
export function useShortcuts(composer: RefObject<HTMLElement | null>, onEscape: () => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]')) return
      if (event.key === 'Escape') onEscape()
      if (event.key !== '/' || isTyping(event.target)) return
      event.preventDefault()
      composer.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

function isTyping(target: EventTarget | null) {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
