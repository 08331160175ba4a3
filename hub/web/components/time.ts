import type { ComponentChildren } from 'preact'
import { html } from '../html.ts'
import { clockTime, fullTime } from '../time.ts'

/** Shows a time in words, else by the clock, with the full date and time as its tooltip. */
export function Time({ at, children = clockTime(at) }: { at: number; children?: ComponentChildren }) {
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${children}</time>`
}
