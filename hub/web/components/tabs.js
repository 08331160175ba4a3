/** @import { Child } from '../types.d.ts' */
import { useRef } from 'preact/hooks'
import { html } from '../html.js'

/**
 * Shows tabs with the usual keys: Tab stops once, the arrows move between tabs.
 * @template {string} Id
 * @param {{label: string, tabs: {id: Id, label: string}[], current: Id, onChoose: (id: Id) => void, children?: Child}} props
 */
export function Tabs({ label, tabs, current, onChoose, children }) {
  const row = useRef(/** @type {HTMLElement | null} */ (null))
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const to = target(
      event.key,
      tabs.findIndex(tab => tab.id === current),
      tabs.length,
    )
    if (to === null) return
    event.preventDefault()
    onChoose(tabs[to].id)
    row.current?.querySelectorAll('button')[to]?.focus()
  }
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${row} onKeyDown=${onKeyDown}>
      ${tabs.map(
        tab => html`<button type="button" role="tab" key=${tab.id} id=${`tab-${tab.id}`} class="tab" aria-controls="tab-body"
          aria-selected=${tab.id === current ? 'true' : 'false'} tabindex=${tab.id === current ? 0 : -1} onClick=${() => onChoose(tab.id)}>${tab.label}</button>`,
      )}
    </div>
    <div id="tab-body" role="tabpanel" aria-labelledby=${`tab-${current}`}>${children}</div>`
}

/** @param {string} key @param {number} at @param {number} size */
function target(key, at, size) {
  if (key === 'ArrowRight') return (at + 1) % size
  if (key === 'ArrowLeft') return (at + size - 1) % size
  if (key === 'Home') return 0
  return key === 'End' ? size - 1 : null
}
