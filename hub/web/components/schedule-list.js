import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useNow } from '../hooks.js'
import { html } from '../html.js'
import { dayAndTime, fullTime, relative } from '../time.js'

const ENDED = ['done', 'fired', 'cancelled', 'complete', 'failed', 'expired']

/** @param {{schedules: any[], onCancel: (id: string) => Promise<void>}} props */
export function ScheduleList({ schedules, onCancel }) {
  const due = schedules
    .filter(one => !ENDED.includes(one.status))
    .sort((a, b) => (a.nextRun ?? Infinity) - (b.nextRun ?? Infinity))
  const now = useNow(due.some(one => isSoon(one.nextRun)) ? 1_000 : 30_000)
  if (due.length === 0)
    return html`<p class="panel-none">Nothing. Ask an agent to remind you of something.</p>`
  return html`<ul class="cards">
    ${due.map(one => html`<${ScheduleCard} key=${one.id} schedule=${one} now=${now} onCancel=${onCancel} />`)}
  </ul>`
}

/** @param {number | null} at */
function isSoon(at) {
  return at !== null && at - Date.now() < 90_000
}

/** @param {{schedule: any, now: number, onCancel: (id: string) => Promise<void>}} props */
function ScheduleCard({ schedule, now, onCancel }) {
  const { id, agent, kind, cron, timezone, reason, nextRun, status } = schedule
  return html`<li class="card schedule">
    <div>
    <p class="card-text card-lead">${reason}</p>
    <p class="card-facts">
      <span>${agent}</span>
      ${
        nextRun === null
          ? html`<span>${status === 'held' ? 'held' : 'waits for an event'}</span>`
          : html`<span><time datetime=${new Date(nextRun).toISOString()} title=${fullTime(nextRun)}><b>${nextRun <= now ? 'due now' : relative(nextRun, now)}</b>, ${dayAndTime(nextRun, now)}</time></span>`
      }
      ${kind === 'cron' && html`<span title=${timezone ?? ''}>repeats <code>${cron}</code></span>`}
      ${status === 'held' && nextRun !== null && html`<span>held</span>`}
    </p>
    </div>
    <${CancelButton} id=${id} reason=${reason} onCancel=${onCancel} />
  </li>`
}

/** Asks once more in place. @param {{id: string, reason: string, onCancel: (id: string) => Promise<void>}} props */
function CancelButton({ id, reason, onCancel }) {
  const [step, setStep] = useState('idle')
  const [error, setError] = useState(/** @type {string | null} */ (null))
  const keep = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    if (step === 'asking') keep.current?.focus()
  }, [step])

  async function cancel() {
    setStep('busy')
    try {
      await onCancel(id)
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
      setStep('idle')
    }
  }

  if (step === 'idle') {
    return html`<div class="card-actions" key="idle">
      <button type="button" class="quiet" aria-label=${`Cancel: ${reason}`} onClick=${() => setStep('asking')}>Cancel</button>
      ${error && html`<span class="panel-error" role="alert">${error}</span>`}
    </div>`
  }
  return html`<div class="card-actions card-ask" key="ask" role="group" aria-label="Cancel it?">
    <span class="card-question">Cancel it for good?</span>
    <button type="button" class="danger" aria-disabled=${step === 'busy' ? 'true' : 'false'} onClick=${step === 'busy' ? undefined : cancel}>
      ${step === 'busy' ? 'Cancelling…' : 'Cancel it'}
    </button>
    <button type="button" class="quiet" ref=${keep} onClick=${() => setStep('idle')}>Keep</button>
  </div>`
}
