import { useState } from 'preact/hooks'
import type { Link } from '../connection.ts'
import type { ChatState } from '../conversation-store.ts'
import { html, typedIn } from '../html.ts'
import { Field } from './field.ts'
import { Flower } from './flower.ts'
import { LinkState } from './link-state.ts'

const REASONS: Record<string, string> = {
  unauthorized:
    'The hub does not know this token. It may have been replaced or revoked, and a sign-in link works once; the ways to find one are below. Somebody who was let in asks whoever keeps the hub for a new link.',
  malformed: 'A token has only letters, digits and marks like - . _ ~: something else got in while copying.',
  forbidden: `The hub refuses the address ${location.host}, or this token may not chat. Open the address that npm start printed, or add this host under hosts: in superbloom.yaml.`,
}

/** Asks for the token; `cause` is why the last one was refused. */
export function Gate({ cause, onToken }: { cause: string | null; onToken: (token: string) => void }) {
  const [token, setToken] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    if (token.trim()) onToken(token.trim())
  }
  return html`<main class="gate">
    <form class="gate-card" onSubmit=${submit}>
      <${Flower} name="superbloom" />
      <h1>Superbloom</h1>
      <p class="gate-lead">Your hub is here. It opens with its token.</p>
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="current-password"
        spellcheck=${false}
        autofocus
        required
        value=${token}
        aria-invalid=${cause && cause !== 'forbidden' ? 'true' : 'false'}
        aria-describedby=${cause ? 'gate-cause' : 'gate-help'}
        onInput=${(event: Event) => setToken(typedIn(event))}
      />
      ${cause && html`<p id="gate-cause" class="gate-cause" role="alert">${REASONS[cause]}</p>`}
      <button type="submit" class="primary">Open</button>
      <div id="gate-help" class="gate-help">
        <p>Where it is:</p>
        <ul>
          <li>in the link that <code>npm start</code> prints in its terminal</li>
          <li>in the file <code>token</code> of the data folder</li>
          <li>in <code>SUPERBLOOM_TOKEN</code>, where the hub was started with it</li>
          <li>in the link that the owner gave you</li>
        </ul>
      </div>
    </form>
    <${Field} plants=${130} />
  </main>`
}

/** Shows that something is waited for. */
export function Waiting({ text }: { text: string }) {
  return html`<main class="gate">
    <div class="gate-card">
      <${Flower} name="superbloom" />
      <h1>Superbloom</h1>
      <p class="gate-lead" role="status">${text}</p>
    </div>
    <${Field} plants=${130} />
  </main>`
}

interface SwitchProps {
  from: string | null
  to: string
  onChoice: (switches: boolean) => void
}

/** Asks whether another person is to use this browser from now on. */
export function SwitchPerson({ from, to, onChoice }: SwitchProps) {
  return html`<main class="gate">
    <div class="gate-card">
      <${Flower} name="superbloom" />
      <h1>Superbloom</h1>
      <p class="gate-lead" role="alert">This link signs in as ${to}. You are signed in here${from && html` as ${from}`}.</p>
      <button type="button" class="primary" onClick=${() => onChoice(false)}>Stay${from && html` ${from}`}</button>
      <button type="button" class="quiet" onClick=${() => onChoice(true)}>Sign in as ${to}</button>
    </div>
    <${Field} plants=${130} />
  </main>`
}

/** Shows the page before the hub's welcome, or when the hub has no agent to talk with. */
export function Welcome({ chat, link, onForget }: { chat: ChatState; link: Link; onForget: () => void }) {
  return html`<main class="gate">
    <div class="gate-card">
      <${Flower} name="superbloom" />
      <h1>Superbloom</h1>
      ${chat.hub ? html`<${NoAgents} isOwner=${chat.role === 'owner'} />` : html`<p class="gate-lead"><${LinkState} link=${link} /></p>`}
      ${'cause' in link && link.cause === 'unreachable' && html`<p>The hub cannot be reached from here. It may be off, or this device may be outside its network.</p>`}
      ${'cause' in link && link.cause === 'no-socket' && html`<p>The hub answers, but its chat connection does not open. Where a proxy stands between, it has to pass WebSocket upgrades of /ws on.</p>`}
      <button type="button" class="quiet" onClick=${onForget}>Sign out</button>
    </div>
    <${Field} plants=${130} />
  </main>`
}

function NoAgents({ isOwner }: { isOwner: boolean }) {
  if (!isOwner)
    return html`<p class="gate-lead">No agent is shared with you yet. Whoever keeps this hub can let you: Settings, People and tokens, Agents that people may talk with.</p>`
  return html`<p class="gate-lead">No agent lives here yet. Write a Markdown file into the folder <code>agents</code>, and it appears within seconds.</p>`
}
