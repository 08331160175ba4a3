import type { RefObject } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { mayDecide, openApprovals } from '../approvals.ts'
import type { Link } from '../connection.ts'
import { type Beside, createConversation } from '../conversation.ts'
import { type Agent, agentOf, type ChatState, mainOf } from '../conversation-store.ts'
import { html } from '../html.ts'
import type { Session } from '../session.ts'
import { agentWords, conversationTitle } from '../words.ts'
import { ApprovalBanner, HeldBanner, LinkBanner, ProblemBanner } from './banners.ts'
import { Composer } from './composer.ts'
import { Flower } from './flower.ts'
import { Icon } from './icons.ts'
import { LinkState } from './link-state.ts'
import { MessageLog, type Sought } from './message-log.ts'

interface ChatProps {
  id: string
  session: Session
  chat: ChatState
  link: Link
  composer: RefObject<HTMLTextAreaElement | null>
  /** Message that a search found here. */
  sought: Sought | null
  panelOpen: boolean
  /** Opens the panel as it was, or at a dead letter. */
  onShow: (letter?: string) => void
  /** Opens and closes the panel; null for people who have none. */
  onPanel: (() => void) | null
  onNav: (() => void) | null
  hasUnread: boolean
}

/** Shows one conversation: its head, its log and the message box. */
export function Chat(props: ChatProps) {
  const { id, session, chat, link, composer, sought, panelOpen, onShow, onPanel, onNav, hasUnread } = props
  const conversation = chat.conversations[id] ?? createConversation(id, [agentOf(id)], 0)
  const agents = conversation.agents.map(name => chat.agents[name]).filter(one => one !== undefined)
  const agent = agents[0]?.name ?? agentOf(id)
  const isMain = id === mainOf(chat, agent)
  const title = isMain && !conversation.title ? agent : conversationTitle(conversation)
  const isBusy = agents.some(one => one.status === 'active')
  const [edited, setEdited] = useState<{ text: string } | null>(null)
  const edit = useCallback((text: string) => setEdited({ text }), [])
  const send = (text: string, beside?: Beside) => session.send(id, text, beside)
  return html`<main class="chat">
    <header class="top-bar">
      ${
        onNav &&
        html`<button type="button" class="quiet square" aria-label=${hasUnread ? 'Conversations, new messages' : 'Conversations'} onClick=${onNav}>
        <${Icon} name="menu" />${hasUnread && html`<span class="unread"></span>`}
      </button>`
      }
      <div class="top-title">
        <h1 dir="auto">${title}</h1>
        <p class="top-agents">${agents.map(one => html`<${AgentState} key=${one.name} agent=${one} title=${title} />`)}</p>
      </div>
      <div class="top-link">
        <span class="visually-hidden" role="status">${link.status === 'open' ? '' : 'Connection lost'}</span>
        <${LinkState} link=${link} />
      </div>
      ${
        onPanel &&
        html`<button type="button" class="quiet square" aria-expanded=${panelOpen ? 'true' : 'false'} id="panel-toggle" aria-label="The hub: agents, schedules, servers" title="The hub" onClick=${onPanel}>
        <${Icon} name="panel" />
      </button>`
      }
    </header>
    <${MessageLog} conversation=${conversation} agents=${agents} chat=${chat} session=${session} sought=${sought} onSuggest=${send} onEdit=${edit} onLetter=${onShow} />
    <div class="foot">
      <${ProblemBanner} problem=${chat.problem} onDismiss=${session.dismissProblem} />
      <${HeldBanner} held=${chat.hub?.held} onShow=${() => onShow()} />
      <${ApprovalBanner} open=${openApprovals(chat.approvals).filter(one => mayDecide(chat, one))} onList=${() => onShow()} />
      <${LinkBanner} link=${link} onRetry=${session.wake} />
      <${Composer} inputRef=${composer} conversation=${conversation} agent=${agent} edited=${edited} onSend=${send} onUpload=${chat.role === 'guest' ? null : session.files.send}
        onStop=${isBusy ? () => session.stopWork(id) : null} />
    </div>
  </main>`
}

function AgentState({ agent, title }: { agent: Agent; title: string }) {
  const name = agent.name === title ? '' : `${agent.name} `
  return html`<span class="top-agent">
    <${Flower} name=${agent.name} status=${agent.status} />
    <span>${name}${agentWords(agent.status)}</span>
  </span>`
}
