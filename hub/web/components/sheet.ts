import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.ts'

type SheetProps = { label: string; side: 'start' | 'end'; onClose: () => void; children?: ComponentChildren }

/**
 * Shows, as a sheet over the chat, content that is beside it on a wide screen. The platform's dialog keeps
 * the focus inside, closes on Escape and gives the focus back.
 */
export function Sheet({ label, side, onClose, children }: SheetProps) {
  const ref = useRef<HTMLDialogElement>(null)
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
  const onClick = (event: MouseEvent) => {
    if (event.target === ref.current) onClose()
  }
  return html`<dialog ref=${ref} class=${`sheet sheet-${side}`} aria-label=${label} onClose=${onClosed} onClick=${onClick}>
    <div class="sheet-body">${children}</div>
  </dialog>`
}
