import type { Budgets } from '../../../../schemas/hub-status.ts'
import { html } from '../../html.ts'

type Day = Budgets['days'][number]
type UsageDaysProps = { days: readonly Day[]; currency: string }

/** Shows what each day used, with a bar beside the day that used most, and the agents' shares. */
export function UsageDays({ days, currency }: UsageDaysProps) {
  const most = Math.max(1, ...days.map(({ tokens }) => tokens))
  if (days.length === 0) return html`<p class="panel-none">Nothing yet.</p>`
  return html`<dl class="budgets">
    ${days.map(
      ({ day, tokens, money, agents }) => html`<div class="budget" key=${day}>
        <dt>${day}</dt>
        <dd>
          ${amount(tokens)} tokens${money > 0 && `, ${amount(money)} ${currency}`}
          <progress max=${most} value=${tokens} aria-hidden="true"></progress>
          ${agents.length > 1 && html`<span class="card-facts">${agents.map(one => html`<span key=${one.name}>${one.name} ${amount(one.tokens)}</span>`)}</span>`}
        </dd>
      </div>`,
    )}
  </dl>`
}

function amount(value: number) {
  return value.toLocaleString('en', { maximumFractionDigits: value < 1 ? 4 : 2 })
}
