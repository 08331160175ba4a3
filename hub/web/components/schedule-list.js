/** @import { Schedule } from '../panel-types.d.ts' */
import { useNow } from '../hooks.js'
import { html } from '../html.js'
import { dayAndTime, fullTime, relative } from '../time.js'
import { AskAgain } from './ask-again.js'

const ENDED = ['done', 'fired', 'cancelled', 'complete', 'failed', 'expired']

/** @param {{schedules: Schedule[], onCancel: (id: string) => Promise<void>}} props */
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

/** @param {{schedule: Schedule, now: number, onCancel: (id: string) => Promise<void>}} props */
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
    <${AskAgain} label="Cancel" name=${`Cancel: ${reason}`} question="Cancel it for good?" yes="Cancel it" busy="Cancelling…" onYes=${() => onCancel(id)} />
  </li>`
}
