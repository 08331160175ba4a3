import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.js'
import { Icon } from './icons.js'

/** @param {{text: string, label: string}} props the text to copy, and the button's name for screen readers */
export function CopyButton({ text, label }) {
  const [state, setState] = useState('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 1_600)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => setState((await copyText(text)) ? 'done' : 'failed')
  return html`<button type="button" class="quiet copy" onClick=${copy} aria-label=${LABELS[state] ?? label} title=${label}>
    <${Icon} name=${state === 'done' ? 'check' : 'copy'} />
    ${state !== 'idle' && html`<span aria-hidden="true">${LABELS[state]}</span>`}
  </button>`
}

/** @type {Record<string, string>} */
const LABELS = { done: 'Copied', failed: 'Not allowed' }

/** Copies text, by a selection where plain http has no clipboard. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const area = document.createElement('textarea')
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)
  area.value = text
  area.className = 'visually-hidden'
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return done
}
