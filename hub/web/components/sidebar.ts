import { useEffect, useRef, useState } from 'preact/hooks'
import type { Conversation } from '../conversation.ts'
import { type Agent, agentOf, type ChatState, type Hub, isTheirs, mainOf } from '../conversation-store.ts'
import { useStore } from '../hooks.ts'
import { html, typedIn } from '../html.ts'
import { PLACES } from '../places.ts'
import type { Session } from '../session.ts'
import { theme, toggleTheme } from '../theme.ts'
import { agentWords, conversationTitle, isUnnamed } from '../words.ts'
import { ConversationRow } from './conversation-row.ts'
import { Flower } from './flower.ts'
import { Icon } from './icons.ts'
import { FoundMessages } from './message-search.ts'

interface SidebarProps {
  chat: ChatState
  changes: Session['conversations']
  current: string
  unread: Record<string, true>
  onChoose: (id: string) => void
  /** Opens a conversation at a message. */
  onFound: (id: string, seq: number) => void
  onNew: (agent: string) => void
  /** Another conversation is to be shown, while the list stays open. */
  onLeave: (id: string) => void
  onForget: () => void
  onClose: (() => void) | null
  /** Id of the place that is shown in the room of the chat. */
  place: string | null
  onPlace: (id: string) => void
}

/** Lists the conversations by agent, and the page's own settings. */
export function Sidebar(props: SidebarProps) {
  const { chat, changes, onFound, onForget, onClose } = props
  const [typed, setTyped] = useState('')
  const query = typed.trim()
  // The conversation that was shown when it was deleted, and the one that took its place.
  const left = useRef({ id: '', to: '' })
  const leave = (to: string) => {
    left.current = { id: props.current, to }
    props.onLeave(to)
  }
  const undo = (id: string) => {
    changes.keep(id)
    if (left.current.id === id && left.current.to === props.current) props.onChoose(id)
  }
  const agents = Object.values(chat.agents)
    .filter(({ name, status }) => (status !== 'retired' && !query) || listed(props, name, query).length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return html`<nav class="sidebar" aria-label="Conversations">
    <div class="brand">
      <${Flower} name="superbloom" /><span>Superbloom</span>
      ${onClose && html`<button type="button" class="quiet square" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>`}
    </div>
    ${chat.role === 'owner' && html`<${Places} current=${props.place} onOpen=${props.onPlace} />`}
    <div class="find" role="search" aria-label="Conversations">
      <${Icon} name="search" />
      <input type="search" aria-label="Find conversations and messages" placeholder="Find" maxlength="200" dir="auto"
        value=${typed} onInput=${(event: Event) => setTyped(typedIn(event))} />
    </div>
    <div class="agents">
      ${agents.map(one => html`<${AgentEntry} key=${one.name} agent=${one} query=${query} of=${{ ...props, onLeave: leave }} />`)}
      ${query && html`<${FoundMessages} query=${query} chat=${chat} changes=${changes} onFound=${onFound} />`}
    </div>
    <${Undo} chat=${chat} onUndo=${undo} />
    <${Settings} hub=${chat.hub} onForget=${onForget} />
  </nav>`
}

function Places({ current, onOpen }: { current: string | null; onOpen: (id: string) => void }) {
  return html`<div class="places">
    ${PLACES.map(
      ({
        id,
        label,
        icon,
      }) => html`<button type="button" key=${id} class="conversation" aria-current=${id === current ? 'page' : undefined} onClick=${() => onOpen(id)}>
        <${Icon} name=${icon} /><span>${label}</span>
      </button>`,
    )}
  </div>`
}

/**
 * Returns an agent's conversations whose title holds the query, pinned ones first, then the newest. A shared one
 * is listed under its first agent.
 */
function listed({ chat, current }: SidebarProps, name: string, query: string): Conversation[] {
  const wanted = query.toLowerCase()
  return Object.values(chat.conversations)
    .filter(c => (c.agents[0] ?? agentOf(c.id)) === name)
    .filter(c => !chat.leaving.includes(c.id) && conversationTitle(c).toLowerCase().includes(wanted))
    .filter(c => c.lastSeq + c.pending.length > 0 || c.id === current || !(c.deleted || isUnnamed(c.id)))
    .sort(
      (a, b) => Number(b.pinned) - Number(a.pinned) || activeAt(b) - activeAt(a) || (a.id < b.id ? -1 : 1),
    )
}

function activeAt({ lastAt, pending }: Conversation) {
  return Math.max(lastAt, ...pending.map(({ at }) => at))
}

function AgentEntry({ agent, query, of }: { agent: Agent; query: string; of: SidebarProps }) {
  const { chat, changes, current, unread, onChoose, onNew, onLeave } = of
  const remove = (id: string) => {
    changes.remove(id)
    if (id === current) onLeave(agent.name)
  }
  return html`<section class="agent-entry" aria-label=${agent.name}>
    <div class="agent-line" title=${agent.description}>
      <${Flower} name=${agent.name} status=${agent.status} />
      <span class="agent-name">${agent.name}</span>
      <span class=${`agent-status state-${agent.status}`}>${agentWords(agent.status)}</span>
    </div>
    ${
      agent.status !== 'retired' &&
      !query &&
      html`<button type="button" class="conversation new" onClick=${() => onNew(agent.name)}>
        <${Icon} name="plus" /><span>New conversation<span class="visually-hidden"> with ${agent.name}</span></span>
      </button>`
    }
    <ul>
      ${listed(of, agent.name, query).map(
        one => html`<${ConversationRow} key=${one.id} conversation=${one} changes=${changes}
          title=${one.id === mainOf(chat, agent.name) && !one.title ? 'main' : conversationTitle(one)}
          isCurrent=${one.id === current && of.place === null} isUnread=${unread[one.id] === true}
          onChoose=${onChoose} mayChange=${isTheirs(chat, one.id)} onDelete=${chat.role === 'owner' ? remove : null} />`,
      )}
    </ul>
  </section>`
}

/** Offers to keep the conversation that was deleted last, while that is possible. */
function Undo({ chat, onUndo }: { chat: ChatState; onUndo: (id: string) => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const id = chat.leaving[chat.leaving.length - 1]
  // The focus was on what is gone now.
  useEffect(() => button.current?.focus(), [id])
  const gone = id === undefined ? undefined : chat.conversations[id]
  return html`<div role="status">
    ${
      gone &&
      html`<div class="banner undo">
        <span>Deleted: <bdi>${conversationTitle(gone)}</bdi></span>
        <button type="button" ref=${button} class="quiet" onClick=${() => onUndo(gone.id)}>Undo</button>
      </div>`
    }
  </div>`
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
