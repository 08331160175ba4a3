/** @import { Agent, ChatState, Hub } from '../types.d.ts' */
import { useState } from 'preact/hooks'
import { agentOf } from '../conversation-store.js'
import { useStore } from '../hooks.js'
import { html, typedIn } from '../html.js'
import { theme, toggleTheme } from '../theme.js'
import { agentWords, conversationTitle, toSlug } from '../words.js'
import { Flower } from './flower.js'
import { Icon } from './icons.js'

/**
 * Lists the conversations by agent, and the page's own settings.
 * @param {{chat: ChatState, current: string, unread: Record<string, true>, onChoose: (id: string) => void, onForget: () => void, onClose: (() => void) | null}} props
 */
export function Sidebar({ chat, current, unread, onChoose, onForget, onClose }) {
  const open = (/** @type {string} */ name) => conversationsOf(chat, name)
  const names = Object.keys(chat.agents).filter(isThere).sort()
  function isThere(/** @type {string} */ name) {
    return chat.agents[name].status !== 'retired' || open(name).length > 0
  }
  return html`<nav class="sidebar" aria-label="Conversations">
    <div class="brand">
      <${Flower} name="superbloom" /><span>Superbloom</span>
      ${onClose && html`<button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}
    </div>
    <div class="agents">
      ${names.map(
        name => html`<${AgentEntry} key=${name} agent=${chat.agents[name]} conversations=${open(name)}
          current=${current} unread=${unread} onChoose=${onChoose} />`,
      )}
    </div>
    <${Settings} hub=${chat.hub} onForget=${onForget} />
  </nav>`
}

/** A shared one is listed under its first agent. @param {ChatState} chat @param {string} name */
function conversationsOf(chat, name) {
  return Object.values(chat.conversations)
    .filter(c => (c.agents[0] ?? agentOf(c.id)) === name)
    .map(c => c.id)
    .sort()
}

/** @param {{agent: Agent, conversations: string[], current: string, unread: Record<string, true>, onChoose: (id: string) => void}} props */
function AgentEntry({ agent, conversations, current, unread, onChoose }) {
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

/** @param {{agent: string, onChoose: (id: string) => void}} props */
function NewConversation({ agent, onChoose }) {
  const [name, setName] = useState(/** @type {string | null} */ (null))
  if (name === null) {
    return html`<button type="button" class="conversation new" onClick=${() => setName('')}>
      <${Icon} name="plus" /><span>New conversation<span class="visually-hidden"> with ${agent}</span></span>
    </button>`
  }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    const slug = toSlug(name)
    if (!slug) return
    setName(null)
    onChoose(`${agent}/${slug}`)
  }
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    setName(null)
  }
  return html`<form class="new-form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <input aria-label=${`Name of the new conversation with ${agent}`} placeholder="What about?" maxlength="60"
      ref=${focusOnce} value=${name} onInput=${(/** @type {Event} */ event) => setName(typedIn(event))} />
    <button type="submit" class="quiet square" aria-label="Begin it"><${Icon} name="check" /></button>
    <button type="button" class="quiet square" aria-label="Cancel" onClick=${() => setName(null)}><${Icon} name="cross" /></button>
  </form>`
}

/** @param {HTMLElement | null} element */
function focusOnce(element) {
  element?.focus()
}

/** @param {{hub: Hub, onForget: () => void}} props */
function Settings({ hub, onForget }) {
  const name = useStore(theme)
  const other = name === 'dark' ? 'light' : 'dark'
  return html`<div class="settings">
    <button type="button" class="quiet" onClick=${toggleTheme}>
      <${Icon} name=${other === 'dark' ? 'moon' : 'sun'} /><span>${other === 'dark' ? 'Dark' : 'Light'} theme</span>
    </button>
    <button type="button" class="quiet" onClick=${onForget} title="Removes the token and unsent messages from this browser">
      <${Icon} name="key" /><span>Forget token</span>
    </button>
    <p class="version">${hub.name} ${hub.version}</p>
  </div>`
}
