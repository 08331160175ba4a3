import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { ChatState } from '../conversation-store.ts'
import { useStore } from '../hooks.ts'
import { classes, html } from '../html.ts'
import type { PanelData, Tab } from '../panel-data.ts'
import type { Session } from '../session.ts'
import { AuditList } from './audit-list.ts'
import { EventList } from './event-list.ts'
import { HistorySearch } from './history-search.ts'
import { Icon } from './icons.ts'
import { NowTab } from './now-tab.ts'
import { Section } from './section.ts'
import { ThreadAudit, ThreadList } from './threads.ts'

const TABS: { id: Tab; label: string }[] = [
  { id: 'now', label: 'Now' },
  { id: 'threads', label: 'Threads' },
  { id: 'events', label: 'Events' },
  { id: 'search', label: 'Search' },
  { id: 'audit', label: 'Audit' },
]

interface PanelProps {
  panel: PanelData
  chat: ChatState
  session: Session
  /** The dead letter to show. */
  marked: { id: string } | null
  onClose: () => void
}

/** Shows what the hub does beyond this chat. */
export function Panel({ panel, chat, session, marked, onClose }: PanelProps) {
  const { tab, loading } = useStore(panel.store)
  return html`<div class="panel">
    <header class="panel-head">
      <h2>The hub</h2>
      <button type="button" class=${classes('quiet square', loading && 'busy')} aria-label="Read again" title="Read again" onClick=${() => panel.show(true)}>
        <${Icon} name="refresh" />
      </button>
      <button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
    </header>
    <${Tabs} current=${tab} onChoose=${panel.choose}>
      ${tab === 'now' ? html`<${NowTab} panel=${panel} chat=${chat} session=${session} marked=${marked} />` : html`<${OtherTab} tab=${tab} panel=${panel} chat=${chat} />`}
    <//>
  </div>`
}

function OtherTab({ tab, panel, chat }: { tab: Tab; panel: PanelData; chat: ChatState }): ComponentChildren {
  const { threads, thread, audit, events, found, searching, rows, chain, errors } = useStore(panel.store)
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
  if (tab === 'audit') {
    return html`<${Section} title="Who did what" error=${errors.rows ?? errors.chain} isLoading=${rows === null}>
      <${AuditList} rows=${rows?.rows ?? []} chain=${chain} onVerify=${panel.verifyAudit} />
    <//>`
  }
  return html`<${Section} title="Search the history" error=${errors.found} isLoading=${false}>
    <${HistorySearch} agents=${Object.keys(chat.agents).sort()} found=${found?.sessions ?? null} searching=${searching}
      onSearch=${panel.search} onThread=${panel.openThread} />
  <//>`
}

interface TabsProps {
  current: Tab
  onChoose: (id: Tab) => void
  children?: ComponentChildren
}

/** Shows tabs with the usual keys: Tab stops once, the arrows move between tabs. */
function Tabs({ current, onChoose, children }: TabsProps) {
  const row = useRef<HTMLElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const at = TABS.findIndex(tab => tab.id === current)
    const to = { ArrowRight: (at + 1) % TABS.length, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    const next = to === undefined ? undefined : TABS.at(to)
    if (!next) return
    event.preventDefault()
    onChoose(next.id)
    row.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus()
  }
  return html`<div class="tabs" role="tablist" aria-label="What of the hub" ref=${row} onKeyDown=${onKeyDown}>
      ${TABS.map(
        tab => html`<button type="button" role="tab" key=${tab.id} id=${`tab-${tab.id}`} class="tab" aria-controls="tab-body"
          aria-selected=${tab.id === current ? 'true' : 'false'} tabindex=${tab.id === current ? 0 : -1} onClick=${() => onChoose(tab.id)}>${tab.label}</button>`,
      )}
    </div>
    <div id="tab-body" role="tabpanel" aria-labelledby=${`tab-${current}`}>${children}</div>`
}
