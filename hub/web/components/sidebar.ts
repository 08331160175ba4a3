import { useState } from 'preact/hooks'
import { type Agent, agentOf, type ChatState, type Hub } from '../conversation-store.ts'
import { useStore } from '../hooks.ts'
import { html, typedIn } from '../html.ts'
import { theme, toggleTheme } from '../theme.ts'
import { agentWords, conversationTitle, toSlug } from '../words.ts'
import { Flower } from './flower.ts'
import { Icon } from './icons.ts'

interface SidebarProps {
  chat: ChatState
  current: string
  unread: Record<string, true>
  onChoose: (id: string) => void
  onForget: () => void
  onClose: (() => void) | null
}

/** Lists the conversations by agent, and the page's own settings. */
export function Sidebar({ chat, current, unread, onChoose, onForget, onClose }: SidebarProps) {
  const open = (name: string) => conversationsOf(chat, name)
  const agents = Object.values(chat.agents)
    .filter(({ name, status }) => status !== 'retired' || open(name).length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return html`<nav class="sidebar" aria-label="Conversations">
    <div class="brand">
      <${Flower} name="superbloom" /><span>Superbloom</span>
      ${onClose && html`<button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}
    </div>
    <div class="agents">
      ${agents.map(
        one => html`<${AgentEntry} key=${one.name} agent=${one} conversations=${open(one.name)}
          current=${current} unread=${unread} onChoose=${onChoose} />`,
      )}
    </div>
    <${Settings} hub=${chat.hub} onForget=${onForget} />
  </nav>`
}

/** A shared one is listed under its first agent. */
function conversationsOf(chat: ChatState, name: string) {
  return Object.values(chat.conversations)
    .filter(c => (c.agents[0] ?? agentOf(c.id)) === name)
    .map(c => c.id)
    .sort()
}

interface AgentEntryProps {
  agent: Agent
  conversations: string[]
  current: string
  unread: Record<string, true>
  onChoose: (id: string) => void
}

function AgentEntry({ agent, conversations, current, unread, onChoose }: AgentEntryProps) {
  return html`<section class="agent-entry" aria-label=${agent.name}>
    <div class="agent-line" title=${agent.description}>
      <${Flower} name=${agent.name} status=${agent.status} />
      <span class="agent-name">${agent.name}</span>
      <span class=${`agent-status state-${agent.status}`}>${agentWords(agent.status)}</span>
    </div>
    <ul>
      ${conversations.map(
        id => html`<li key=${id}>
          <button type="button" class="conversation" aria-current=${id === current ? 'page' : undefined} onClick=${() => onChoose(id)}>
            <span class="conversation-name">${id === agent.name ? 'main' : conversationTitle(id)}</span>
            ${unread[id] && html`<span class="unread"><span class="visually-hidden">, new messages</span></span>`}
          </button>
        </li>`,
      )}
    </ul>
    ${agent.status !== 'retired' && html`<${NewConversation} agent=${agent.name} onChoose=${onChoose} />`}
  </section>`
}

function NewConversation({ agent, onChoose }: { agent: string; onChoose: (id: string) => void }) {
  const [name, setName] = useState<string | null>(null)
  if (name === null) {
    return html`<button type="button" class="conversation new" onClick=${() => setName('')}>
      <${Icon} name="plus" /><span>New conversation<span class="visually-hidden"> with ${agent}</span></span>
    </button>`
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const slug = toSlug(name)
    if (!slug) return
    setName(null)
    onChoose(`${agent}/${slug}`)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    setName(null)
  }
  return html`<form class="new-form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <input aria-label=${`Name of the new conversation with ${agent}`} placeholder="What about?" maxlength="60"
      ref=${focusOnce} value=${name} onInput=${(event: Event) => setName(typedIn(event))} />
    <button type="submit" class="quiet square" aria-label="Begin it"><${Icon} name="check" /></button>
    <button type="button" class="quiet square" aria-label="Cancel" onClick=${() => setName(null)}><${Icon} name="cross" /></button>
  </form>`
}

function focusOnce(element: HTMLElement | null) {
  element?.focus()
}

function Settings({ hub, onForget }: { hub: Hub; onForget: () => void }) {
  const name = useStore(theme)
  const other = name === 'dark' ? 'light' : 'dark'
  return html`<div class="settings">
    <button type="button" class="quiet" onClick=${toggleTheme}>
      <${Icon} name=${other === 'dark' ? 'moon' : 'sun'} /><span>${other === 'dark' ? 'Dark' : 'Light'} theme</span>
    </button>
    <button type="button" class="quiet" onClick=${onForget} title="Ends this browser's session and removes unsent messages">
      <${Icon} name="key" /><span>Sign out</span>
    </button>
    <p class="version">${hub.name} ${hub.version}</p>
  </div>`
}
