import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'

/**
 * Draws an agent's own flower: its name sets the number of petals, its state how far it is open. It is only
 * decoration: words say the state, too.
 */
export function Flower({ name, status = 'active' }: { name: string; status?: string }) {
  return html`<svg class=${`flower flower-${status}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    ${(SHAPES[status] ?? bud)(petalsOf(name))}
  </svg>`
}

const SHAPES: Record<string, (petals: number) => ComponentChildren> = {
  active: bloom,
  waiting: halfOpen,
  failed: wilted,
  sleeping: bud,
  retired: bud,
}

/** Returns five to eight. */
function petalsOf(name: string) {
  let hash = 7
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 997
  return 5 + (hash % 4)
}

function bloom(petals: number) {
  const width = 17 / petals
  return html`<g class="petals">
      ${Array.from(
        { length: petals },
        (_, i) =>
          html`<ellipse cx="12" cy="6.2" rx=${width} ry="5" transform=${`rotate(${(i * 360) / petals} 12 12)`} />`,
      )}
    </g>
    <circle class="heart" cx="12" cy="12" r="2.7" />`
}

function halfOpen() {
  return html`<path class="stem" d="M12 23v-7" />
    <g class="petals">
      <path d="M12 16C4 14 4 8 6 4.5 10 6.500 12 10 12 16z" />
      <path d="M12 16c8-2 8-8 6-11.500-4 2-6 5.500-6 11.500z" />
      <path d="M12 16c-4-4-4-9 0-13 4 4 4 9 0 13z" />
    </g>`
}

function bud() {
  return html`<path class="stem" d="M12 23v-7M12 21c-2.500 0-4-1.200-4.500-3.200M12 20c2 0 3.500-1 4-2.800" />
    <path class="petals" d="M12 3.500c4 3.500 4.500 9 0 12.500-4.500-3.500-4-9 0-12.500z" />`
}

function wilted() {
  return html`<path class="stem" d="M9 23C8.500 13 10 5 14 5c2 0 3 1.500 3 4" />
    <path class="petals" d="M17 9c3.500 2.500 3.500 6.500 0 9-3.500-2.500-3.500-6.500 0-9z" />`
}
