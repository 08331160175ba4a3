import type { ListedEvent, Schedule } from '../../../../schemas/hub-lists.ts'
import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { BudgetList, isWorthShowing } from '../budget-list.ts'
import { EventList } from '../event-list.ts'
import { FiredList, ScheduleList } from '../schedule-list.ts'
import { Section } from '../section.ts'
import { UsageDays } from './usage-days.ts'

/** Shows what happened and where it went, what comes, and what it used. */
export function Activity({ mcp, news }: SectionProps) {
  const events = useTool<{ events: ListedEvent[] }>({ mcp, news }, 'hub_list_events', { limit: 50 })
  const schedules = useTool<{ schedules: Schedule[] }>({ mcp, news }, 'hub_list_schedules')
  const fired = useTool<{ schedules: Schedule[] }>({ mcp, news }, 'hub_list_schedules', { fired: true })
  const status = useTool<HubStatus>({ mcp, news }, 'hub_status')
  const budgets = status.value?.budgets
  const cancel = async (id: string) => {
    await mcp.call('hub_cancel_schedule', { id })
    await schedules.read()
  }
  return html`<div class="activity">
    <div>
      <${Section} title="What comes" error=${schedules.error} isLoading=${schedules.value === null}>
        <${ScheduleList} schedules=${schedules.value?.schedules ?? []} onCancel=${cancel} />
      <//>
      <${Section} title="What fired" error=${fired.error} isLoading=${fired.value === null}>
        <${FiredList} schedules=${fired.value?.schedules ?? []} />
      <//>
      <${Section} title="Used today" error=${status.error} isLoading=${budgets === undefined}>
        ${budgets && (isWorthShowing(budgets) ? html`<${BudgetList} budgets=${budgets} />` : html`<p class="panel-none">Nothing.</p>`)}
      <//>
      <${Section} title="Used by day" isLoading=${budgets === undefined}>
        <${UsageDays} days=${budgets?.days ?? []} currency=${budgets?.currency ?? ''} />
      <//>
    </div>
    <${Section} title="What happened" error=${events.error} isLoading=${events.value === null}>
      <${EventList} events=${events.value?.events ?? []} />
    <//>
  </div>`
}
