/** @import { Agent, ChatState, Link, Picture, Problem as Told, Ref, Session } from '../types.d.ts' */
import { openApprovals } from '../approvals.js'
import { createConversation } from '../conversation.js'
import { agentOf } from '../conversation-store.js'
import { html } from '../html.js'
import { agentWords, conversationTitle } from '../words.js'
import { ApprovalBanner, HeldBanner } from './approval-banner.js'
import { Composer } from './composer.js'
import { Flower } from './flower.js'
import { Icon } from './icons.js'
import { LinkBanner, LinkState } from './link-state.js'
import { MessageLog } from './message-log.js'

/**
 * Shows one conversation: its head, its log and the message box.
 * @param {object} props
 * @param {string} props.id
 * @param {Session} props.session
 * @param {ChatState} props.chat
 * @param {Link} props.link
 * @param {Ref<HTMLTextAreaElement>} props.composer
 * @param {boolean} props.panelOpen
 * @param {(letter?: string) => void} props.onShow opens the panel as it was, or at a dead letter
 * @param {() => void} props.onPanel
 * @param {(() => void) | null} props.onNav
 * @param {boolean} props.hasUnread
 */
export function Chat({ id, session, chat, link, composer, panelOpen, onShow, onPanel, onNav, hasUnread }) {
  const conversation = chat.conversations[id] ?? createConversation(id, [agentOf(id)], 0)
  const agents = conversation.agents.map(name => chat.agents[name]).filter(Boolean)
  const agent = agents[0]?.name ?? agentOf(id)
  const isBusy = agents.some(one => one.status === 'active')
  const send = (/** @type {string} */ text, /** @type {Picture[] | undefined} */ images) =>
    session.send(id, text, images)
  return html`<main class="chat">
    <header class="top-bar">
      ${
        onNav &&
        html`<button type="button" class="quiet square" aria-label=${hasUnread ? 'Conversations, new messages' : 'Conversations'} onClick=${onNav}>
        <${Icon} name="menu" />${hasUnread && html`<span class="unread"></span>`}
      </button>`
      }
      <div class="top-title">
        <h1>${conversationTitle(id)}</h1>
        <p class="top-agents">${agents.map(one => html`<${AgentState} key=${one.name} agent=${one} title=${conversationTitle(id)} />`)}</p>
      </div>
      <div class="top-link">
        <span class="visually-hidden" role="status">${link.status === 'open' ? '' : 'Connection lost'}</span>
        <${LinkState} link=${link} />
      </div>
      <button type="button" class="quiet square" aria-expanded=${panelOpen ? 'true' : 'false'} id="panel-toggle" aria-label="The hub: agents, schedules, servers" title="The hub" onClick=${onPanel}>
        <${Icon} name="panel" />
      </button>
    </header>
    <${MessageLog} conversation=${conversation} agents=${agents} chat=${chat} session=${session} onSuggest=${send} onLetter=${onShow} />
    <div class="foot">
      <${Problem} problem=${chat.problem} onDismiss=${session.dismissProblem} />
      <${HeldBanner} held=${chat.hub?.held} onShow=${() => onShow()} />
      <${ApprovalBanner} open=${openApprovals(chat.approvals)} onList=${() => onShow()} />
      <${LinkBanner} link=${link} onRetry=${session.wake} />
      <${Composer} inputRef=${composer} conversation=${conversation} agent=${agent} onSend=${send}
        onStop=${isBusy ? () => session.stopWork(id) : null} />
    </div>
  </main>`
}

/** @param {{agent: Agent, title: string}} props */
function AgentState({ agent, title }) {
  const name = agent.name === title ? '' : `${agent.name} `
  return html`<span class="top-agent">
    <${Flower} name=${agent.name} status=${agent.status} />
    <span>${name}${agentWords(agent.status)}</span>
  </span>`
}

/** @param {{problem: Told | null, onDismiss: () => void}} props */
function Problem({ problem, onDismiss }) {
  return html`<div role="alert">
    ${
      problem &&
      html`<div class="banner banner-bad">
        <span>${problem.text}</span>
        <button type="button" class="quiet square" aria-label="Dismiss" onClick=${onDismiss}><${Icon} name="close" /></button>
      </div>`
    }
  </div>`
}
