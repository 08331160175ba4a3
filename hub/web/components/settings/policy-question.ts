import { useEffect, useState } from 'preact/hooks'
import type { ExplainedTool } from '../../../../schemas/hub-lists.ts'
import type { Power } from '../../../../schemas/power.ts'
import { html, typedIn } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { dayAndTime } from '../../time.ts'
import { useTool } from '../../use-tool.ts'
import { reasonWords, toolWords } from '../../words.ts'
import { Section } from '../section.ts'
import { Time } from '../time.ts'

const WHO: Record<Power, string> = {
  person: 'a person',
  routine: 'a schedule, an event or another agent',
  guest: 'a guest',
  foreign: 'a text from outside',
}
const SAID = { run: 'runs', ask: 'asks for a yes', refuse: 'is refused' } as const

/** Says of each tool what the policy answers, by who began the work; `revoked` counts allowances that were taken back. */
export function PolicyQuestion({ revoked, ...props }: SectionProps & { revoked: number }) {
  const agents = Object.keys(props.chat.agents).sort()
  const [agent, setAgent] = useState(agents[0] ?? '')
  const [power, setPower] = useState<Power>('person')
  const [wanted, setWanted] = useState('')
  const { value, error, read } = useTool<{ tools: ExplainedTool[] }>(props, 'hub_explain_policy', {
    agent,
    power,
  })
  useEffect(() => {
    if (revoked > 0) void read()
  }, [revoked])
  const found = (value?.tools ?? []).filter(({ tool }) =>
    `${tool} ${toolWords(tool)}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  )
  return html`<${Section} title="Who may do what" error=${error} isLoading=${value === null && error === undefined}>
    <div class="row-form">
      <label>Agent <select value=${agent} onChange=${(event: Event) => setAgent(typedIn(event))}>${agents.map(one => html`<option key=${one}>${one}</option>`)}</select></label>
      <label>Work begun by <select value=${power} onChange=${(event: Event) => setPower(typedIn(event) as Power)}>
        ${Object.entries(WHO).map(([key, words]) => html`<option key=${key} value=${key}>${words}</option>`)}
      </select></label>
      <label>Tools whose name has <input type="search" value=${wanted} autocomplete="off" autocapitalize="none" onInput=${(event: Event) => setWanted(typedIn(event))} /></label>
    </div>
    ${found.length === 0 && html`<p class="panel-none" role="status">No tool of a server now.</p>`}
    <ul class="fold-list policy">
      ${found.map(
        ({ tool, kind, reason, until }) =>
          html`<li key=${tool}><b>${toolWords(tool)}</b> <code>${tool}</code> <span class=${`answer-${kind}`}>${SAID[kind]}</span>: ${
            until === undefined
              ? reasonWords(reason)
              : html`a person allowed it until <${Time} at=${until}>${dayAndTime(until, Date.now())}<//>. Then it asks again: ${reasonWords(reason)}`
          }</li>`,
      )}
    </ul>
    <p class="panel-none"><a href="./#p=settings/servers">Settings, Servers</a> changes who may use a tool.</p>
  <//>`
}
