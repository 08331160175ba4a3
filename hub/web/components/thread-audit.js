/** @import { AuditCall, AuditCycle, AuditStep, ThreadAudit as Audit } from '../panel-types.d.ts' */
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../html.js'
import { count, dayAndTime, duration, fullTime } from '../time.js'
import { CYCLE_WORDS, callWords, THREAD_WORDS, toolWords } from '../words.js'
import { ActButton } from './ask-again.js'
import { Icon } from './icons.js'
import { threadTitle } from './thread-list.js'

/**
 * Shows what a thread did, the newest cycle first: its inbox items, each step with its text and calls, tokens
 * and cost.
 * @param {{audit: Audit | null, error?: string, onBack: () => void, onStop: (thread: string) => Promise<void>}} props
 */
export function ThreadAudit({ audit, error, onBack, onStop }) {
  const back = useRef(/** @type {HTMLElement | null} */ (null))
  // The button that led here is gone, so the focus moves.
  useEffect(() => back.current?.focus(), [])
  const leave = () => {
    onBack()
    document.getElementById('tab-threads')?.focus()
  }
  const cycles = audit ? [...audit.cycles].reverse() : []
  return html`<section class="panel-section" aria-label="Thread">
    <button type="button" class="quiet back" ref=${back} onClick=${leave}><${Icon} name="back" />All threads</button>
    ${error && html`<p class="panel-error">${error}</p>`}
    ${!audit && !error && html`<p class="panel-none">Reading…</p>`}
    ${audit && html`<${Head} thread=${audit.thread} onStop=${onStop} />`}
    ${audit && cycles.length === 0 && html`<p class="panel-none">It has not been awake yet.</p>`}
    ${cycles.map((cycle, i) => html`<${Cycle} key=${cycle.id} cycle=${cycle} isOpen=${i === 0} />`)}
  </section>`
}

/** @param {{thread: Audit['thread'], onStop: (thread: string) => Promise<void>}} props */
function Head({ thread, onStop }) {
  return html`<div class="audit-head">
    <h3 class="clamp">${threadTitle(thread)}</h3>
    <p class="card-facts"><span><code>${thread.id}</code></span><span>${THREAD_WORDS[thread.status] ?? thread.status}</span><span>${count(thread.cycles, 'cycle')}</span></p>
    ${thread.summary && html`<p class="card-text">${thread.summary}</p>`}
    ${thread.status === 'active' && html`<${ActButton} label="Stop" busy="Stopping…" name="Stop this thread" onClick=${() => onStop(thread.id)} />`}
  </div>`
}

/** @param {{cycle: AuditCycle, isOpen: boolean}} props */
function Cycle({ cycle, isOpen }) {
  const { status, startedAt, note, inbox, steps } = cycle
  return html`<details class="card audit-cycle" open=${isOpen}>
    <summary>
      <span class="audit-line">
        <b><time datetime=${new Date(startedAt).toISOString()} title=${fullTime(startedAt)}>${dayAndTime(startedAt, Date.now())}</time></b>
        <span class=${`card-state cycle-${status}`}>${CYCLE_WORDS[status] ?? status}</span>
      </span>
      <span class="card-facts">${facts(cycle).map(fact => html`<span key=${fact}>${fact}</span>`)}</span>
    </summary>
    ${note && html`<p class="audit-note">${note}</p>`}
    ${inbox.map((item, i) => html`<pre class="audit-told" key=${i} tabindex="0" role="region" aria-label="What it was told">${item.text}</pre>`)}
    <ol class="audit-steps">${steps.map(step => html`<${Step} key=${step.step} step=${step} />`)}</ol>
  </details>`
}

/** @param {AuditCycle} cycle @returns {string[]} */
function facts({ startedAt, endedAt, tokens, cost, model, steps }) {
  return [
    endedAt !== undefined && duration(endedAt - startedAt),
    count(steps.length, 'step'),
    count(tokens.input + tokens.output, 'token'),
    tokens.cached > 0 && `${tokens.cached.toLocaleString('en')} cached`,
    cost > 0 && `cost ${cost.toLocaleString('en', { maximumFractionDigits: 4 })}`,
    model,
  ].filter(fact => typeof fact === 'string')
}

/** @param {{step: AuditStep}} props */
function Step({ step: { text, calls } }) {
  return html`<li>
    ${text && html`<p class="audit-text">${text}</p>`}
    ${calls.map(call => html`<${AuditedCall} key=${call.id} call=${call} />`)}
    ${!text && calls.length === 0 && html`<p class="panel-none">Nothing was said.</p>`}
  </li>`
}

/** @param {{call: AuditCall}} props */
function AuditedCall({ call: { tool, status, arguments: given, result } }) {
  return html`<details class="fold">
    <summary><b>${toolWords(tool)}</b> <span class=${`call-state call-${status}`}>${callWords(status)}</span></summary>
    <pre class="fold-text" tabindex="0" role="region" aria-label=${`Arguments of ${tool}`}>${given}</pre>
    ${result && html`<pre class="fold-text" tabindex="0" role="region" aria-label=${`Result of ${tool}`}>${result}</pre>`}
  </details>`
}
