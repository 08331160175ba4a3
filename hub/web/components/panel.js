import { useStore } from '../hooks.js'
import { classes, html } from '../html.js'
import { AgentCards } from './agent-cards.js'
import { Icon } from './icons.js'
import { ScheduleList } from './schedule-list.js'
import { HubFacts, ProblemList, ServerList } from './server-list.js'

/**
 * What the hub is doing beyond this chat: agents, what is scheduled, and how its servers are.
 * @param {{panel: any, chat: any, onClose: () => void}} props
 */
export function Panel({ panel, chat, onClose }) {
  const data = useStore(panel.store)
  const problems = data.status?.problems ?? []
  return html`<div class="panel">
    <header class="panel-head">
      <h2>The hub</h2>
      <button type="button" class=${classes('quiet square', data.loading && 'busy')} aria-label="Read again" title="Read again" onClick=${() => panel.show(true)}>
        <${Icon} name="refresh" />
      </button>
      <button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
    </header>
    ${problems.length > 0 && html`<${Section} title="Needs attention" isLoading=${false}><${ProblemList} problems=${problems} /><//>`}
    <${Section} title="Agents" error=${data.errors.agents} isLoading=${data.agents === null}>
      <${AgentCards} agents=${data.agents?.agents ?? []} chat=${chat} />
    <//>
    <${Section} title="Scheduled" error=${data.errors.schedules} isLoading=${data.schedules === null}>
      <${ScheduleList} schedules=${data.schedules?.schedules ?? []} onCancel=${panel.cancelSchedule} />
    <//>
    <${Section} title="Servers" error=${data.errors.status} isLoading=${data.status === null}>
      <${ServerList} servers=${data.status?.servers ?? []} onTried=${panel.touch} />
      <${HubFacts} status=${data.status} />
    <//>
  </div>`
}

/** @param {{title: string, error?: string, isLoading: boolean, children?: any}} props */
function Section({ title, error, isLoading, children }) {
  return html`<section class="panel-section" aria-label=${title}>
    <h3>${title}</h3>
    ${error && html`<p class="panel-error">${error}</p>`}
    ${isLoading ? !error && html`<p class="panel-none">Reading…</p>` : children}
  </section>`
}
