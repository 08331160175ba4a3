import type { HubStatus } from '../../../schemas/hub-status.ts'
import { useNow, useTries } from '../hooks.ts'
import { html } from '../html.ts'
import { count, duration, relative } from '../time.ts'
import { serverTone } from '../words.ts'

type Server = HubStatus['servers'][number]

/** Lists the servers; `onTried` is called after an announced try. */
export function ServerList({ servers, onTried }: { servers: Server[]; onTried: () => void }) {
  const tries = servers.map(server => server.nextTryAt)
  const now = useNow(useTries(tries, onTried) ? 1_000 : 0)
  if (servers.length === 0) return html`<p class="panel-none">None.</p>`
  return html`<ul class="servers">
    ${servers.map(server => html`<${ServerLine} key=${server.name} server=${server} now=${now} />`)}
  </ul>`
}

function ServerLine({ server, now }: ServerFactsProps) {
  return html`<li class=${`server server-${serverTone(server.state)}`}><${ServerFacts} server=${server} now=${now} /></li>`
}

interface ServerFactsProps {
  server: Server
  now: number
}

/** Shows a server's state, its facts, and what is wrong with it. */
export function ServerFacts({ server, now }: ServerFactsProps) {
  const { name, state, transport, era, tools, error, nextTryAt, origin, sessions, collisions = [] } = server
  const facts = [
    count(tools, 'tool'),
    transport === 'stdio' ? 'program on this machine' : transport,
    era === 'legacy' && 'older protocol',
    origin,
    sessions && count(sessions, 'session'),
  ].filter(Boolean)
  return html`<div class="server-head">
      <span class="server-dot" aria-hidden="true"></span>
      <span class="server-name">${name}</span>
      <span class="server-state">${state.replaceAll('_', ' ')}</span>
    </div>
    <p class="card-facts">${facts.map(fact => html`<span key=${fact}>${fact}</span>`)}</p>
    ${collisions.length > 0 && html`<p class="server-note">Names that another server has: ${collisions.join(', ')}</p>`}
    ${error && html`<p class="server-error">${error}</p>`}
    ${nextTryAt && html`<p class="card-facts"><span>next try ${nextTryAt > now ? relative(nextTryAt, now) : 'now'}</span></p>`}`
}

export function HubFacts({ status }: { status: HubStatus | null }) {
  const now = useNow(30_000)
  if (!status) return null
  const { model, queues, hub } = status
  return html`<dl class="facts">
    <div><dt>Model</dt><dd>${model.kind === 'commands' ? 'built-in commands' : model.name}</dd></div>
    <div><dt>Work</dt><dd>${workWords(queues)}</dd></div>
    <div><dt>Up for</dt><dd>${duration(Math.max(hub.uptimeMs, now - hub.startedAt))}</dd></div>
    <div><dt>Version</dt><dd>${hub.version}</dd></div>
  </dl>`
}

function workWords({ busy, waiting }: { busy: number; waiting: number }) {
  if (busy + waiting === 0) return 'none'
  return `${count(busy, 'cycle')} running, ${waiting} waiting`
}
