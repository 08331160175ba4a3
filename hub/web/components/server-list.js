/** @import { HubStatus, Server } from '../panel-types.d.ts' */
import { useAt, useNow } from '../hooks.js'
import { html } from '../html.js'
import { count, duration, relative } from '../time.js'
import { serverTone } from '../words.js'

/** Milliseconds after a server's next try until its outcome is read. */
const OUTCOME = 2_000

/** @param {{servers: Server[], onTried: () => void}} props onTried: called after an announced try */
export function ServerList({ servers, onTried }) {
  const outcomes = servers.map(server => (server.nextTryAt ?? 0) + OUTCOME).filter(at => at > Date.now())
  const now = useNow(outcomes.length > 0 ? 1_000 : 0)
  useAt(outcomes.length > 0 ? Math.min(...outcomes) : null, onTried)
  if (servers.length === 0) return html`<p class="panel-none">None.</p>`
  return html`<ul class="servers">
    ${servers.map(server => html`<${ServerLine} key=${server.name} server=${server} now=${now} />`)}
  </ul>`
}

/** @param {{server: Server, now: number}} props */
function ServerLine({ server, now }) {
  const { name, state, transport, era, tools, error, nextTryAt, origin, sessions, collisions = [] } = server
  const facts = [
    count(tools, 'tool'),
    transport,
    era === 'legacy' && 'older MCP',
    origin,
    sessions && count(sessions, 'session'),
  ].filter(Boolean)
  return html`<li class=${`server server-${serverTone(state)}`}>
    <div class="server-head">
      <span class="server-dot" aria-hidden="true"></span>
      <span class="server-name">${name}</span>
      <span class="server-state">${state.replaceAll('_', ' ')}</span>
    </div>
    <p class="card-facts">${facts.map(fact => html`<span key=${fact}>${fact}</span>`)}</p>
    ${collisions.length > 0 && html`<p class="server-note">Names that another server has: ${collisions.join(', ')}</p>`}
    ${error && html`<p class="server-error">${error}</p>`}
    ${nextTryAt && html`<p class="card-facts"><span>next try ${nextTryAt > now ? relative(nextTryAt, now) : 'now'}</span></p>`}
  </li>`
}

/** @param {{status: HubStatus | null}} props */
export function HubFacts({ status }) {
  if (!status?.hub) return null
  const { model, queues, hub } = status
  return html`<dl class="facts">
    ${model && html`<div><dt>Model</dt><dd>${model.kind === 'commands' ? 'built-in commands' : model.name}</dd></div>`}
    ${queues && html`<div><dt>Work</dt><dd>${workWords(queues)}</dd></div>`}
    <div><dt>Up for</dt><dd>${duration(hub.uptimeMs)}</dd></div>
    <div><dt>Version</dt><dd>${hub.version}</dd></div>
  </dl>`
}

/** @param {{busy: number, waiting: number}} queues */
function workWords({ busy, waiting }) {
  if (busy + waiting === 0) return 'none'
  return `${count(busy, 'cycle')} running, ${waiting} waiting`
}
