import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'

type SectionProps = { title: string; error?: string; isLoading: boolean; children?: ComponentChildren }

/** A part of the panel. */
export function Section({ title, error, isLoading, children }: SectionProps) {
  return html`<section class="panel-section" aria-label=${title}>
    <h3>${title}</h3>
    ${error && html`<p class="panel-error">${error}</p>`}
    ${isLoading ? !error && html`<p class="panel-none">Reading…</p>` : children}
  </section>`
}
