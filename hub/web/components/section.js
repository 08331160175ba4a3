import { html } from '../html.js'

/** A part of the panel. @param {{title: string, error?: string, isLoading: boolean, children?: import('../types.d.ts').Child}} props */
export function Section({ title, error, isLoading, children }) {
  return html`<section class="panel-section" aria-label=${title}>
    <h3>${title}</h3>
    ${error && html`<p class="panel-error">${error}</p>`}
    ${isLoading ? !error && html`<p class="panel-none">Reading…</p>` : children}
  </section>`
}
