import type { Link } from '../connection.ts'
import { useNow } from '../hooks.ts'
import { html } from '../html.ts'

/** Shows the link's state in words and as a dot. */
export function LinkState({ link }: { link: Link }) {
  const now = useNow(link.status === 'waiting' ? 1_000 : 0)
  return html`<span class=${`link link-${link.status}`}>
    <span class="link-dot" aria-hidden="true"></span>
    <span class="link-words">${words(link, now)}</span>
  </span>`
}

function words(link: Link, now: number) {
  if (link.status === 'open') return 'Connected'
  if (link.status === 'connecting') return 'Connecting…'
  if (link.status === 'refused') return 'Refused'
  const seconds = Math.ceil((link.retryAt - now) / 1_000)
  return seconds > 0 ? `Reconnecting in ${seconds} s` : 'Reconnecting…'
}
