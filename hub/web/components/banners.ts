import type { Approval } from '../../../schemas/chat.ts'
import type { Link } from '../connection.ts'
import type { ChatState } from '../conversation-store.ts'
import { html } from '../html.ts'
import { count } from '../time.ts'
import { toolWords } from '../words.ts'
import { Icon } from './icons.ts'
import { LinkState } from './link-state.ts'

/** Returns the id of an approval's card in the log. */
export function cardId(id: string) {
  return `approval-${id}`
}

/** Shows, above the message box, that approvals are open; its button leads to a card, else to the list. */
export function ApprovalBanner({ open, onList }: { open: Approval[]; onList: () => void }) {
  const first = open[0]
  const show = () => {
    const card = open.map(one => document.getElementById(cardId(one.id))).find(Boolean)
    if (!card) return onList()
    card.scrollIntoView({ block: 'nearest' })
    card.focus()
  }
  return html`<div role="status">
    ${
      first &&
      html`<div class="banner banner-ask">
        <${Icon} name="hand" />
        <span>${open.length === 1 ? `${toolWords(first.tool)} waits for your yes.` : `${count(open.length, 'call')} wait for your yes.`}</span>
        <button type="button" class="quiet" onClick=${show}>Show</button>
      </div>`
    }
  </div>`
}

/** Shows, above the message box, that no agent may run. */
export function HeldBanner({ held, onShow }: { held: number | undefined; onShow: () => void }) {
  if (held === undefined) return null
  return html`<div class="banner banner-bad">
    <span>The agents are held after a crash loop. What you write is kept.</span>
    <button type="button" class="quiet" onClick=${onShow}>Show</button>
  </div>`
}

/** Shows, above the message box, that there is no link. */
export function LinkBanner({ link, onRetry }: { link: Link; onRetry: () => void }) {
  if (link.status === 'open') return null
  return html`<div class="banner">
    <${LinkState} link=${link} />
    <span class="banner-note">What you write now is kept and sent then.</span>
    ${link.status === 'waiting' && html`<button type="button" class="quiet" onClick=${onRetry}>Try now</button>`}
  </div>`
}

interface ProblemBannerProps {
  problem: ChatState['problem']
  onDismiss: () => void
}

/** Shows, above the message box, what went wrong. */
export function ProblemBanner({ problem, onDismiss }: ProblemBannerProps) {
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
