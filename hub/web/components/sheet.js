import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.js'

/**
 * Shows, as a sheet over the chat, content that is beside it on a wide screen. The platform's dialog keeps
 * the focus inside, closes on Escape and gives the focus back.
 * @param {{label: string, side: 'start' | 'end', onClose: () => void, children?: import('../types.d.ts').Child}} props
 */
export function Sheet({ label, side, onClose, children }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null))
  const gone = useRef(false)
  useEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => {
      gone.current = true
      dialog?.close()
    }
  }, [])
  const onClosed = () => {
    if (!gone.current) onClose()
  }
  const onClick = (/** @type {MouseEvent} */ event) => {
    if (event.target === ref.current) onClose()
  }
  return html`<dialog ref=${ref} class=${`sheet sheet-${side}`} aria-label=${label} onClose=${onClosed} onClick=${onClick}>
    <div class="sheet-body">${children}</div>
  </dialog>`
}
