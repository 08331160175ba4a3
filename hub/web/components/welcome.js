/** @import { ChatState, Link } from '../types.d.ts' */
import { html } from '../html.js'
import { Field } from './field.js'
import { Flower } from './flower.js'
import { LinkState } from './link-state.js'

/**
 * Shows the page before the hub's welcome, or when the hub has no agent to talk with.
 * @param {{chat: ChatState, link: Link, onForget: () => void}} props
 */
export function Welcome({ chat, link, onForget }) {
  return html`<main class="gate">
    <div class="gate-card">
      <${Flower} name="superbloom" />
      <h1>Superbloom</h1>
      ${chat.hub ? html`<${NoAgents} />` : html`<p class="gate-lead"><${LinkState} link=${link} /></p>`}
      ${'cause' in link && link.cause === 'no-socket' && html`<p>The hub answers, but its chat connection does not open. Where a proxy stands between, it has to pass WebSocket upgrades of /ws on.</p>`}
      <button type="button" class="quiet" onClick=${onForget}>Use another token</button>
    </div>
    <${Field} plants=${130} />
  </main>`
}

function NoAgents() {
  return html`<p class="gate-lead">No agent lives here yet. Write a Markdown file into the folder <code>agents</code>, and it appears within seconds.</p>`
}
