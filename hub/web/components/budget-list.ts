import type { Budgets } from '../../../schemas/hub-status.ts'
import { html } from '../html.ts'

/** Shows today's use of the budgets: of all agents, then of each active one. */
export function BudgetList({ budgets }: { budgets: Budgets }) {
  const { currency = '', tokens, money } = budgets
  const busy = budgets.agents.filter(one => one.tokens.used > 0 || one.wakes.used > 0)
  return html`<dl class="budgets">
    <${Line} name="All agents" used=${tokens} unit="tokens" />
    ${isCounted(money) && html`<${Line} name="All agents, cost" used=${money} unit=${currency} />`}
    ${busy.map(
      one => html`<${Line} name=${one.name} used=${one.tokens} unit="tokens" key=${one.name} />
      ${isCounted(one.money) && html`<${Line} name=${`${one.name}, cost`} used=${one.money} unit=${currency} />`}
      ${one.wakes.used > 0 && html`<${Line} name=${`${one.name}, begun by itself`} used=${one.wakes} unit="times" />`}`,
    )}
  </dl>`
}

/** Tells whether something was used or has a limit. */
export function isWorthShowing({ tokens, money }: Budgets) {
  return isCounted(tokens) || isCounted(money)
}

function isCounted({ used, limit }: Budgets['tokens']) {
  return used > 0 || limit !== undefined
}

function Line({
  name,
  used: { used, limit },
  unit,
}: {
  name: string
  used: Budgets['tokens']
  unit: string
}) {
  const share = limit ? used / limit : 0
  const words = `${amount(used)}${limit === undefined ? '' : ` of ${amount(limit)}`} ${unit}`
  return html`<div class=${`budget ${share >= 1 ? 'budget-spent' : share >= 0.8 ? 'budget-high' : ''}`}>
    <dt>${name}</dt>
    <dd>
      ${words}
      ${limit !== undefined && html`<progress max=${limit} value=${Math.min(used, limit)} aria-label=${`${name}: ${words}`}></progress>`}
    </dd>
  </div>`
}

function amount(value: number) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 1 ? 4 : 2 })
}
