/** @import { ChatState, Child, PanelData, Session } from '../types.d.ts' */
/** @import { Tab } from '../panel-data.js' */
import { useStore } from '../hooks.js'
import { classes, html } from '../html.js'
import { EventList } from './event-list.js'
import { HistorySearch } from './history-search.js'
import { Icon } from './icons.js'
import { NowTab } from './now-tab.js'
import { Section } from './section.js'
import { Tabs } from './tabs.js'
import { ThreadAudit } from './thread-audit.js'
import { ThreadList } from './thread-list.js'

/** @type {{id: Tab, label: string}[]} */
const TABS = [
  { id: 'now', label: 'Now' },
  { id: 'threads', label: 'Threads' },
  { id: 'events', label: 'Events' },
  { id: 'search', label: 'Search' },
]

/**
 * Shows what the hub does beyond this chat.
 * @param {{panel: PanelData, chat: ChatState, session: Session, marked: {id: string} | null, onClose: () => void}} props marked: the dead letter to show
 */
export function Panel({ panel, chat, session, marked, onClose }) {
  const { tab, loading } = useStore(panel.store)
  return html`<div class="panel">
    <header class="panel-head">
      <h2>The hub</h2>
      <button type="button" class=${classes('quiet square', loading && 'busy')} aria-label="Read again" title="Read again" onClick=${() => panel.show(true)}>
        <${Icon} name="refresh" />
      </button>
      <button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
    </header>
    <${Tabs} label="What of the hub" tabs=${TABS} current=${tab} onChoose=${panel.choose}>
      ${tab === 'now' ? html`<${NowTab} panel=${panel} chat=${chat} session=${session} marked=${marked} />` : html`<${OtherTab} tab=${tab} panel=${panel} chat=${chat} />`}
    <//>
  </div>`
}

/** @param {{tab: Tab, panel: PanelData, chat: ChatState}} props @returns {Child} */
function OtherTab({ tab, panel, chat }) {
  const { threads, thread, audit, events, found, searching, errors } = useStore(panel.store)
  if (tab === 'threads' && thread !== null) {
    return html`<${ThreadAudit} audit=${audit} error=${errors.audit} onBack=${() => panel.openThread(null)} onStop=${panel.stopThread} />`
  }
  if (tab === 'threads') {
    return html`<${Section} title="Threads and tasks" error=${errors.threads} isLoading=${threads === null}>
      <${ThreadList} threads=${threads?.threads ?? []} onOpen=${panel.openThread} />
    <//>`
  }
  if (tab === 'events') {
    return html`<${Section} title="What happened" error=${errors.events} isLoading=${events === null}>
      <${EventList} events=${events?.events ?? []} />
    <//>`
  }
  return html`<${Section} title="Search the history" error=${errors.found} isLoading=${false}>
    <${HistorySearch} agents=${Object.keys(chat.agents).sort()} found=${found?.sessions ?? null} searching=${searching}
      onSearch=${panel.search} onThread=${panel.openThread} />
  <//>`
}
