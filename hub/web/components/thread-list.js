/** @import { ThreadListed } from '../panel-types.d.ts' */
import { useNow } from '../hooks.js'
import { html } from '../html.js'
import { count, relative } from '../time.js'
import { THREAD_WORDS } from '../words.js'

/**
 * Lists the agents' threads and tasks; each opens its audit.
 * @param {{threads: ThreadListed[], onOpen: (id: string) => void}} props
 */
export function ThreadList({ threads, onOpen }) {
  const now = useNow(30_000)
  if (threads.length === 0)
    return html`<p class="panel-none">None yet. An agent's thread begins with its first message.</p>`
  return html`<ul class="cards">
    ${threads.map(thread => html`<${ThreadCard} key=${thread.id} thread=${thread} now=${now} onOpen=${onOpen} />`)}
  </ul>`
}

/** @param {{thread: ThreadListed, now: number, onOpen: (id: string) => void}} props */
function ThreadCard({ thread, now, onOpen }) {
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

/** @param {ThreadListed} thread */
export function threadTitle({ kind, agent, instructions, id }) {
  return kind === 'main' ? `${agent}, its main thread` : (instructions ?? id)
}
