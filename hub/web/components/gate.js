import { useState } from 'preact/hooks'
import { html, typedIn } from '../html.js'
import { Field } from './field.js'
import { Flower } from './flower.js'

/** @type {Record<string, string>} */
const REASONS = {
  unauthorized: 'The hub does not know this token. It may have been replaced; the ways to find it are below.',
  malformed: 'A token has only letters, digits and marks like - . _ ~: something else got in while copying.',
  forbidden: `The hub refuses the address ${location.host}, or this token may not chat. Open the address that npm start printed, or add this host under hosts: in superbloom.yaml.`,
}

/**
 * Asks for the token.
 * @param {{cause: string | null, onToken: (token: string) => void}} props cause: why the last one was refused
 */
export function Gate({ cause, onToken }) {
  const [token, setToken] = useState('')
  const submit = (/** @type {Event} */ event) => {
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
        onInput=${(/** @type {Event} */ event) => setToken(typedIn(event))}
      />
      ${cause && html`<p id="gate-cause" class="gate-cause" role="alert">${REASONS[cause]}</p>`}
      <button type="submit" class="primary">Open</button>
      <div id="gate-help" class="gate-help">
        <p>Where it is:</p>
        <ul>
          <li>in the link that <code>npm start</code> prints in its terminal</li>
          <li>in the file <code>token</code> of the data folder</li>
          <li>in <code>SUPERBLOOM_TOKEN</code>, where the hub was started with it</li>
        </ul>
      </div>
    </form>
    <${Field} plants=${130} />
  </main>`
}
