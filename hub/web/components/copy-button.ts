import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { Icon } from './icons.ts'

/** A button that copies a text; `label` is its name for screen readers. */
export function CopyButton({ text, label }: { text: string; label: string }) {
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

const LABELS: Record<string, string> = { done: 'Copied', failed: 'Not allowed' }

/** Copies text, by a selection where plain http has no clipboard. */
async function copyText(text: string) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string) {
  const area = document.createElement('textarea')
  const focused = document.activeElement as HTMLElement | null
  area.value = text
  area.className = 'visually-hidden'
  document.body.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return done
}
