/** @import { Approval } from '../types.d.ts' */
import { html } from '../html.js'
import { count } from '../time.js'
import { toolWords } from '../words.js'
import { Icon } from './icons.js'

/** Returns the id of an approval's card in the log. @param {string} id */
export function cardId(id) {
  return `approval-${id}`
}

/**
 * Shows, above the message box, that approvals are open; its button leads to a card, else to the list.
 * @param {{open: Approval[], onList: () => void}} props
 */
export function ApprovalBanner({ open, onList }) {
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

/**
 * Shows, above the message box, that no agent may run.
 * @param {{held: number | undefined, onShow: () => void}} props
 */
export function HeldBanner({ held, onShow }) {
  if (held === undefined) return null
  return html`<div class="banner banner-bad">
    <span>The agents are held after a crash loop. What you write is kept.</span>
    <button type="button" class="quiet" onClick=${onShow}>Show</button>
  </div>`
}
