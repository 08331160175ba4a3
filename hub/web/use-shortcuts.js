import { useEffect } from 'preact/hooks'

/**
 * Adds shortcuts: `/` focuses the message box from anywhere, Escape closes the panel.
 * @param {{composer: {current: HTMLElement | null}, onEscape: () => void}} what
 */
export function useShortcuts({ composer, onEscape }) {
  useEffect(() => {
    const onKey = (/** @type {KeyboardEvent} */ event) => {
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

/** @param {EventTarget | null} target */
function isTyping(target) {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
