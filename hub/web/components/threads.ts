import { useEffect, useRef } from 'preact/hooks'
import type { ThreadAudit as Audit, ThreadView } from '../../../schemas/hub-lists.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { count, dayAndTime, duration, relative } from '../time.ts'
import { CYCLE_WORDS, callWords, THREAD_WORDS, toolWords } from '../words.ts'
import { ActButton } from './ask-again.ts'
import { Icon } from './icons.ts'
import { Time } from './time.ts'

type AuditCycle = Audit['cycles'][number]
type AuditStep = AuditCycle['steps'][number]

/** Lists the agents' threads and tasks; each opens its audit. */
export function ThreadList({ threads, onOpen }: { threads: ThreadView[]; onOpen: (id: string) => void }) {
  const now = useNow(30_000)
  if (threads.length === 0)
    return html`<p class="panel-none">None yet. An agent's thread begins with its first message.</p>`
  return html`<ul class="cards">
    ${threads.map(thread => html`<${ThreadCard} key=${thread.id} thread=${thread} now=${now} onOpen=${onOpen} />`)}
  </ul>`
}

type ThreadCardProps = { thread: ThreadView; now: number; onOpen: (id: string) => void }

function ThreadCard({ thread, now, onOpen }: ThreadCardProps) {
  const { id, status, summary, cycles, pending, updatedAt } = thread
  return html`<li class="card">
    <div class="card-head">
      <button type="button" class="card-link" onClick=${() => onOpen(id)}><span class="clamp">${threadTitle(thread)}</span></button>
      <span class=${`card-state state-${status}`}>${THREAD_WORDS[status] ?? status}</span>
    </div>
    ${summary && html`<p class="card-text clamp">${summary}</p>`}
    <p class="card-facts">
      <span>${thread.agent}</span>
      <span>${count(cycles, 'cycle')}</span>
      ${pending > 0 && html`<span>${pending.toLocaleString('en')} waiting</span>`}
      <span>${relative(Math.min(updatedAt, now), now)}</span>
    </p>
  </li>`
}

function threadTitle({ kind, agent, instructions, id }: ThreadView) {
  return kind === 'main' ? `${agent}, its main thread` : (instructions ?? id)
}

interface ThreadAuditProps {
  audit: Audit | null
  error?: string
  onBack: () => void
  onStop: (thread: string) => Promise<void>
}

/**
 * Shows what a thread did, the newest cycle first: its inbox items, each step with its text and calls, tokens
 * and cost.
 */
export function ThreadAudit({ audit, error, onBack, onStop }: ThreadAuditProps) {
  const back = useRef<HTMLElement>(null)
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

function Head({ thread, onStop }: { thread: Audit['thread']; onStop: (thread: string) => Promise<void> }) {
  return html`<div class="audit-head">
    <h3 class="clamp">${threadTitle(thread)}</h3>
    <p class="card-facts"><span><code>${thread.id}</code></span><span>${THREAD_WORDS[thread.status] ?? thread.status}</span><span>${count(thread.cycles, 'cycle')}</span></p>
    ${thread.summary && html`<p class="card-text">${thread.summary}</p>`}
    ${thread.status === 'active' && html`<${ActButton} label="Stop" busy="Stopping…" name="Stop this thread" onClick=${() => onStop(thread.id)} />`}
  </div>`
}

function Cycle({ cycle, isOpen }: { cycle: AuditCycle; isOpen: boolean }) {
  const { status, startedAt, note, inbox, steps } = cycle
  return html`<details class="card audit-cycle" open=${isOpen}>
    <summary>
      <span class="audit-line">
        <b><${Time} at=${startedAt}>${dayAndTime(startedAt, Date.now())}<//></b>
        <span class=${`card-state cycle-${status}`}>${CYCLE_WORDS[status] ?? status}</span>
      </span>
      <span class="card-facts">${facts(cycle).map(fact => html`<span key=${fact}>${fact}</span>`)}</span>
    </summary>
    ${note && html`<p class="audit-note">${note}</p>`}
    ${inbox.map((item, i) => html`<pre class="audit-told" key=${i} tabindex="0" role="region" aria-label="What it was told">${item.text}</pre>`)}
    <ol class="audit-steps">${steps.map(step => html`<${Step} key=${step.step} step=${step} />`)}</ol>
  </details>`
}

function facts({ startedAt, endedAt, tokens, cost, model, steps }: AuditCycle): string[] {
  return [
    endedAt !== undefined && duration(endedAt - startedAt),
    count(steps.length, 'step'),
    count(tokens.input + tokens.output, 'token'),
    tokens.cached > 0 && `${tokens.cached.toLocaleString('en')} cached`,
    cost > 0 && `cost ${cost.toLocaleString('en', { maximumFractionDigits: 4 })}`,
    model,
  ].filter(fact => typeof fact === 'string')
}

function Step({ step: { text, calls } }: { step: AuditStep }) {
  return html`<li>
    ${text && html`<p class="audit-text">${text}</p>`}
    ${calls.map(call => html`<${AuditedCall} key=${call.id} call=${call} />`)}
    ${!text && calls.length === 0 && html`<p class="panel-none">Nothing was said.</p>`}
  </li>`
}

function AuditedCall({
  call: { tool, status, arguments: given, result },
}: {
  call: AuditStep['calls'][number]
}) {
  return html`<details class="fold">
    <summary><b>${toolWords(tool)}</b> <span class=${`call-state call-${status}`}>${callWords(status)}</span></summary>
    <pre class="fold-text" tabindex="0" role="region" aria-label=${`Arguments of ${tool}`}>${given}</pre>
    ${result && html`<pre class="fold-text" tabindex="0" role="region" aria-label=${`Result of ${tool}`}>${result}</pre>`}
  </details>`
}
