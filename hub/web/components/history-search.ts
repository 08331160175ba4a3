import { useState } from 'preact/hooks'
import type { FoundSession } from '../../../schemas/search.ts'
import { html, typedIn } from '../html.ts'
import type { Search } from '../panel-data.ts'
import { count, dayAndTime } from '../time.ts'
import { SESSION_WORDS } from '../words.ts'
import { Icon } from './icons.ts'
import { Time } from './time.ts'

/** Timeframes that hub_search_history understands, with the page's words. */
const TIMEFRAMES: [string, string][] = [
  ['', 'Any time'],
  ['24h', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['this week', 'This week'],
  ['30d', 'Last 30 days'],
]

interface HistorySearchProps {
  agents: string[]
  found: FoundSession[] | null
  searching: boolean
  onSearch: (search: Search) => void
  onThread: (thread: string) => void
}

/** Searches everything that an agent ever did by its words. */
export function HistorySearch({ agents, found, searching, onSearch, onThread }: HistorySearchProps) {
  const [query, setQuery] = useState('')
  const [agent, setAgent] = useState(agents[0] ?? '')
  const [timeframe, setTimeframe] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (query.trim()) onSearch({ query: query.trim(), agent, timeframe })
  }
  return html`<div>
    <form class="search" role="search" onSubmit=${submit}>
      <div class="search-words">
      <label class="visually-hidden" for="search-words">Words to find</label>
      <input id="search-words" type="search" placeholder="Words to find" maxlength="500" value=${query} onInput=${(event: Event) => setQuery(typedIn(event))} />
      <button type="submit" class="quiet square" aria-label="Search"><${Icon} name="search" /></button>
      </div>
      <div class="search-where">
      ${agents.length > 1 && html`<${Choice} label="Agent" value=${agent} options=${agents.map(name => [name, name])} onChange=${setAgent} />`}
      <${Choice} label="When" value=${timeframe} options=${TIMEFRAMES} onChange=${setTimeframe} />
      </div>
    </form>
    <div role="status">
      ${searching ? html`<p class="panel-none">Searching…</p>` : found && html`<${Found} found=${found} onThread=${onThread} />`}
    </div>
  </div>`
}

interface ChoiceProps {
  label: string
  value: string
  options: [string, string][]
  onChange: (value: string) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return html`<select aria-label=${label} value=${value} onChange=${(event: Event) => onChange(typedIn(event))}>
    ${options.map(([key, words]) => html`<option key=${key} value=${key}>${words}</option>`)}
  </select>`
}

function Found({ found, onThread }: { found: FoundSession[]; onThread: (thread: string) => void }) {
  if (found.length === 0) return html`<p class="panel-none">Nothing was found. Try fewer or other words.</p>`
  return html`<ul class="cards">${found.map(one => html`<${SessionCard} key=${`${one.session.thread} ${one.session.number}`} found=${one} onThread=${onThread} />`)}</ul>`
}

type SessionCardProps = { found: FoundSession; onThread: (thread: string) => void }

function SessionCard({ found: { session, snippets }, onThread }: SessionCardProps) {
  const now = Date.now()
  return html`<li class="card">
    ${snippets.map(
      (one, i) =>
        html`<p class="snippet" key=${i}><span class="snippet-role">${ROLES[one.role] ?? one.role}, <${Time} at=${one.at}>${dayAndTime(one.at, now)}<//></span> ${one.text}</p>`,
    )}
    ${
      session.summary &&
      html`<details class="fold"><summary>Summary of that time</summary><p class="fold-text">${session.summary}</p></details>`
    }
    <p class="card-facts">
      <span>from ${dayAndTime(session.startedAt, now)} on</span>
      <span>${count(session.messages, 'message')}</span>
      <span>${SESSION_WORDS[session.reason] ?? session.reason}</span>
    </p>
    <div class="card-actions letter-actions"><button type="button" class="quiet" onClick=${() => onThread(session.thread)}>Open the thread ${session.thread}</button></div>
  </li>`
}

const ROLES: Record<string, string> = { user: 'Told', assistant: 'Said', tool: 'A tool gave' }
