import { html } from '../html.ts'
import { escapeUnseen } from '../unseen.ts'

/** Shows text of others as it is, with what cannot be seen in it. */
export function Shown({ label, text }: { label: string; text: string }) {
  return html`<pre class="shown" tabindex="0" role="region" aria-label=${label}><code>${escapeUnseen(text)}</code></pre>`
}
