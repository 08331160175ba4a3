import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AgentEdit } from '../../../../schemas/agent-edit.ts'
import type { Schedule } from '../../../../schemas/hub-lists.ts'
import type { HubStatus } from '../../../../schemas/hub-status.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { ActButton, AskAgain } from '../ask-again.ts'
import { BudgetList } from '../budget-list.ts'
import { Icon } from '../icons.ts'
import { ScheduleList } from '../schedule-list.ts'
import { Section } from '../section.ts'
import { AgentEditor } from './agent-editor.ts'
import { AgentFacts } from './agent-facts.ts'

interface AgentPageProps {
  name: string
  /** True for one that has no file before it is saved. */
  isNew: boolean
  parts: SectionProps
  onBack: () => void
}

/** Shows one agent: its file, what it remembers, its schedules and what it used today. */
export function AgentPage({ name, isNew, parts, onBack }: AgentPageProps) {
  const { mcp } = parts
  const { value, error, read } = useTool<AgentEdit>(parts, 'hub_read_agent', { agent: name })
  const back = useRef<HTMLElement>(null)
  useLayoutEffect(() => back.current?.focus(), [])
  const act = async (tool: string, args: Record<string, unknown>) => {
    await mcp.call(tool, { agent: name, ...args })
    await read()
  }
  const isBegun = isNew && value === null
  return html`<div>
    <button type="button" class="quiet" ref=${back} onClick=${onBack}><${Icon} name="back" />All agents</button>
    <${Section} title=${`The file of ${name}`} error=${isBegun ? undefined : error} isLoading=${value === null && !isNew}>
      ${
        value?.text === undefined && value
          ? html`<${Retired} edit=${value} onWrite=${(text: string) => act('hub_write_agent', { text })} />`
          : html`<${AgentEditor} name=${name} disk=${value} mcp=${mcp} onRead=${read} />`
      }
      ${
        value?.sha256 !== undefined &&
        html`<${AskAgain} label="Retire" name=${`Retire ${name}`} question="Remove its file? Its schedules wait, its history and its file are kept." yes="Retire it" busy="Retiring…" onYes=${() => act('hub_remove_agent', { sha256: value.sha256 })} />`
      }
    <//>
    ${value && html`<${AgentFacts} facts=${value.facts} act=${act} /><${Figures} name=${name} parts=${parts} />`}
  </div>`
}

function Retired({ edit, onWrite }: { edit: AgentEdit; onWrite: (text: string) => Promise<void> }) {
  const { file, former } = edit
  return html`<p class="card-text">It is retired: there is no ${file}.</p>
    ${
      former === undefined
        ? html`<p class="panel-none">Put its file back to have it return.</p>`
        : html`<details class="fold"><summary>Its file as it was</summary><pre class="fold-text" tabindex="0" role="region" aria-label="Its file as it was">${former}</pre></details>
          <${ActButton} label="Bring it back" name="Bring it back" busy="Bringing it back…" onClick=${() => onWrite(former)} />`
    }`
}

/** Shows an agent's schedules and today's use of its budget. */
function Figures({ name, parts }: { name: string; parts: SectionProps }) {
  const planned = useTool<{ schedules: Schedule[] }>(parts, 'hub_list_schedules', { agent: name })
  const status = useTool<HubStatus>(parts, 'hub_status')
  const cancel = async (id: string) => {
    await parts.mcp.call('hub_cancel_schedule', { id })
    await planned.read()
  }
  const budgets = status.value?.budgets
  return html`<${Section} title="Its schedules" error=${planned.error} isLoading=${planned.value === null}>
      <${ScheduleList} schedules=${planned.value?.schedules ?? []} onCancel=${cancel} />
    <//>
    <${Section} title="Its budget today" error=${status.error} isLoading=${!budgets}>
      ${budgets && html`<${BudgetList} budgets=${{ ...budgets, agents: budgets.agents.filter(one => one.name === name) }} />`}
    <//>`
}
