import type { Schedule } from '../../../schemas/hub-lists.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { dayAndTime, relative } from '../time.ts'
import { AskAgain } from './ask-again.ts'
import { Time } from './time.ts'

/** Schedules that fired and are shown, so that what stands below stays near. */
const SHOWN = 10

type ScheduleListProps = { schedules: Schedule[]; onCancel: (id: string) => Promise<void> }

export function ScheduleList({ schedules, onCancel }: ScheduleListProps) {
  const due = schedules
    .filter(one => one.status === 'active' || one.status === 'held')
    .sort((a, b) => (a.nextRun ?? Infinity) - (b.nextRun ?? Infinity))
  const now = useNow(due.some(one => isSoon(one.nextRun)) ? 1_000 : 30_000)
  if (due.length === 0)
    return html`<p class="panel-none">Nothing. Ask an agent to remind you of something.</p>`
  return html`<ul class="cards">
    ${due.map(one => html`<${ScheduleCard} key=${one.id} schedule=${one} now=${now} onCancel=${onCancel} />`)}
  </ul>`
}

/** Lists schedules that fired, the newest first. */
export function FiredList({ schedules }: Pick<ScheduleListProps, 'schedules'>) {
  const now = useNow(30_000)
  if (schedules.length === 0) return html`<p class="panel-none">Nothing yet.</p>`
  return html`<ul class="cards">
    ${schedules.slice(0, SHOWN).map(
      ({ id, agent, reason, lastRun = 0, kind, status }) => html`<li class="card" key=${id}>
        <p class="card-text card-lead">${reason}</p>
        <p class="card-facts">
          <span>${agent}</span>
          <span><${Time} at=${lastRun}>${relative(Math.min(lastRun, now), now)}, ${dayAndTime(lastRun, now)}<//></span>
          <span>${kind === 'cron' && status === 'active' ? 'goes on' : 'is over'}</span>
        </p>
      </li>`,
    )}
  </ul>`
}

function isSoon(at: number | null) {
  return at !== null && at - Date.now() < 90_000
}

type ScheduleCardProps = { schedule: Schedule; now: number; onCancel: (id: string) => Promise<void> }

function ScheduleCard({ schedule, now, onCancel }: ScheduleCardProps) {
  const { id, agent, kind, cron, timezone, reason, nextRun, lastRun, status } = schedule
  return html`<li class="card schedule">
    <div>
    <p class="card-text card-lead">${reason}</p>
    <p class="card-facts">
      <span>${agent}</span>
      ${
        nextRun === null
          ? html`<span>${status === 'held' ? 'held' : 'waits for an event'}</span>`
          : html`<span><${Time} at=${nextRun}><b>${nextRun <= now ? 'due now' : relative(nextRun, now)}</b>, ${dayAndTime(nextRun, now)}<//></span>`
      }
      ${kind === 'cron' && html`<span title=${timezone}>repeats <code>${cron}</code></span>`}
      ${lastRun !== undefined && html`<span>fired <${Time} at=${lastRun}>${relative(Math.min(lastRun, now), now)}<//></span>`}
      ${status === 'held' && nextRun !== null && html`<span>held</span>`}
    </p>
    </div>
    <${AskAgain} label="Cancel" name=${`Cancel: ${reason}`} question="Cancel it for good?" yes="Cancel it" busy="Cancelling…" onYes=${() => onCancel(id)} />
  </li>`
}
