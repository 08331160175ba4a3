import { useNow } from '../hooks.js'
import { html } from '../html.js'

/** Shows the link's state in words and as a dot. @param {{link: import('../types.d.ts').Link}} props */
export function LinkState({ link }) {
  const now = useNow(link.status === 'waiting' ? 1_000 : 0)
  return html`<span class=${`link link-${link.status}`}>
    <span class="link-dot" aria-hidden="true"></span>
    <span class="link-words">${words(link, now)}</span>
  </span>`
}

/** @param {import('../types.d.ts').Link} link @param {number} now */
function words(link, now) {
  if (link.status === 'open') return 'Connected'
  if (link.status === 'connecting') return 'Connecting…'
  if (link.status === 'refused') return 'Refused'
  const seconds = Math.ceil((link.retryAt - now) / 1_000)
  return seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting…'
}

/**
 * Shows, above the message box, that there is no link.
 * @param {{link: import('../types.d.ts').Link, onRetry: () => void}} props
 */
export function LinkBanner({ link, onRetry }) {
  if (link.status === 'open') return null
  return html`<div class="banner">
    <${LinkState} link=${link} />
    <span class="banner-note">What you write now is kept and sent then.</span>
    ${link.status === 'waiting' && html`<button type="button" class="quiet" onClick=${onRetry}>Try now</button>`}
  </div>`
}
