import { openApprovals } from '../approvals.ts'
import type { ChatState } from '../conversation-store.ts'
import { useStore } from '../hooks.ts'
import { html } from '../html.ts'
import type { PanelData } from '../panel-data.ts'
import type { Session } from '../session.ts'
import { AgentCards } from './agent-cards.ts'
import { ApprovalList } from './approval-card.ts'
import { BudgetList, isWorthShowing } from './budget-list.ts'
import { DeadLetters } from './dead-letters.ts'
import { HubNotices, needsAttention } from './hub-notices.ts'
import { ScheduleList } from './schedule-list.ts'
import { Section } from './section.ts'
import { HubFacts, ServerList } from './server-list.ts'

/** Most answered approvals that are shown. */
const ANSWERED = 1

type NowTabProps = { panel: PanelData; chat: ChatState; session: Session; marked: { id: string } | null }

/**
 * Shows the present: first what needs a person, then agents, schedules, today's use of the budgets, and
 * servers.
 */
export function NowTab({ panel, chat, session, marked }: NowTabProps) {
  const { agents, schedules, status, errors } = useStore(panel.store)
  const release = async () => {
    await panel.releaseAgents()
    session.release()
  }
  return html`<div>
    ${status && needsAttention(status) && html`<${Section} title="Needs attention" isLoading=${false}><${HubNotices} status=${status} onRelease=${release} onAccept=${panel.acceptTools} onRetryModel=${panel.retryModel} onTried=${panel.touch} /><//>`}
    <${Approvals} chat=${chat} session=${session} />
    <${Failures} panel=${panel} marked=${marked} />
    <${Section} title="Agents" error=${errors.agents} isLoading=${agents === null}>
      <${AgentCards} agents=${agents?.agents ?? []} chat=${chat} />
    <//>
    <${Section} title="Scheduled" error=${errors.schedules} isLoading=${schedules === null}>
      <${ScheduleList} schedules=${schedules?.schedules ?? []} onCancel=${panel.cancelSchedule} />
    <//>
    ${status && isWorthShowing(status.budgets) && html`<${Section} title="Used today" isLoading=${false}><${BudgetList} budgets=${status.budgets} /><//>`}
    <${Section} title="Servers" error=${errors.status} isLoading=${status === null}>
      <${ServerList} servers=${status?.servers ?? []} onTried=${panel.touch} />
      <p class="panel-none"><a href="./#p=settings/servers">Settings<span class="visually-hidden"> of servers</span></a></p>
      <${HubFacts} status=${status} />
    <//>
  </div>`
}

function Approvals({ chat: { approvals, deciding }, session }: { chat: ChatState; session: Session }) {
  const decided = Object.values(approvals)
    .filter(one => one.status !== 'open')
    .sort((a, b) => (b.decidedAt ?? b.expiresAt) - (a.decidedAt ?? a.expiresAt))
    .slice(0, ANSWERED)
  const open = openApprovals(approvals)
  if (open.length + decided.length === 0) return null
  return html`<${Section} title=${open.length > 0 ? 'Waits for your yes' : 'Answered'} isLoading=${false}>
    <${ApprovalList} open=${open} decided=${decided} deciding=${deciding} onDecide=${session.decide} />
  <//>`
}

function Failures({ panel, marked }: { panel: PanelData; marked: { id: string } | null }) {
  const { letters, errors } = useStore(panel.store)
  const list = letters?.deadLetters ?? []
  const isGone = marked !== null && letters !== null && !list.some(one => one.id === marked.id)
  if (list.length === 0 && !errors.letters && !isGone) return null
  return html`<${Section} title="Failed for good" error=${errors.letters} isLoading=${false}>
    ${isGone && html`<p class="panel-none">That failure was retried or discarded already.</p>`}
    <${DeadLetters} letters=${list} marked=${marked} onRetry=${panel.retryLetter} onDiscard=${panel.discardLetter} />
  <//>`
}
