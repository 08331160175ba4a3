import type { ComponentChildren } from 'preact'
import type { ModelFinding } from '../../../../schemas/model-choice.ts'
import { useReveal } from '../../hooks.ts'
import { html } from '../../html.ts'

const MARKS: Record<ModelFinding['level'], string> = { ok: 'good', warning: 'warn', problem: 'bad' }
const SAID: Record<ModelFinding['level'], string> = {
  ok: '',
  warning: 'Beware: it ',
  problem: 'Problem: it ',
}

interface TrialViewProps {
  title: string
  works: boolean
  verdict: string
  findings: ModelFinding[]
  /** The button that keeps it. */
  label: string
  /** The line that says what the button did; absent until it was pressed. */
  kept: ComponentChildren
  isBusy: boolean
  error: string | undefined
  onKeep: () => void
}

/** Shows what came of a trial, and the button that keeps what was tried. */
export function TrialView({
  title,
  works,
  verdict,
  findings,
  label,
  kept,
  isBusy,
  error,
  onKeep,
}: TrialViewProps) {
  const shown = useReveal(kept ? 'kept' : 'tried')
  return html`<div class="card" ref=${shown}>
    <div class="card-head"><span class="card-name">${title}</span><span class=${`card-state ${works ? 'found-good' : 'found-bad'}`}>${verdict}</span></div>
    <ul class="fold-list">${findings.map(({ level, what }) => html`<li key=${what} class=${`found-${MARKS[level]}`}>${SAID[level]}${what}</li>`)}</ul>
    ${kept || html`<div class="card-actions"><button type="button" class=${works ? 'primary' : 'quiet'} aria-disabled=${isBusy ? 'true' : 'false'} onClick=${onKeep}>${label}</button></div>`}
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </div>`
}
