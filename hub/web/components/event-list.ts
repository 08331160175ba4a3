import type { ListedEvent } from '../../../schemas/hub-lists.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'
import { count, dayAndTime, relative } from '../time.ts'
import { EVENT_WORDS } from '../words.ts'
import { Time } from './time.ts'

/** Lists events, with where each went and why. */
export function EventList({ events }: { events: ListedEvent[] }) {
  const now = useNow(30_000)
  if (events.length === 0)
    return html`<p class="panel-none">None yet. Servers, webhooks and MCP clients bring them.</p>`
  return html`<ul class="cards">
    ${events.map(event => html`<${EventCard} key=${event.id} event=${event} now=${now} />`)}
  </ul>`
}

/** Says of a note what a person can use: no id of an event, and times as clocks show them. */
function noteWords(note: string, now: number) {
  return note
    .replace(/ \(evt_\w+\)/g, '')
    .replace(/\bevt_\w+/g, 'an earlier one')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, at => dayAndTime(Date.parse(at), now))
}

function EventCard({ event, now }: { event: ListedEvent; now: number }) {
  const { type, source, status, note, repeats, routedTo, at, payload } = event
  return html`<li class="card">
    <div class="card-head">
      <span class="card-name">${type}</span>
      <span class=${`card-state event-${status}`}>${EVENT_WORDS[status] ?? status}</span>
    </div>
    ${note && html`<p class="card-text">${noteWords(note, now)}</p>`}
    <p class="card-facts">
      <span><${Time} at=${at}>${relative(Math.min(at, now), now)}<//></span>
      <span>from ${source}</span>
      ${routedTo.length > 0 && html`<span>to ${routedTo.join(', ')}</span>`}
      ${repeats > 0 && html`<span><b>${count(repeats, 'repeat')} held</b></span>`}
    </p>
    <details class="fold">
      <summary>What it said</summary>
      <pre class="fold-text" tabindex="0" role="region" aria-label=${`Payload of ${type}`}>${JSON.stringify(payload, null, 2)}</pre>
    </details>
  </li>`
}
