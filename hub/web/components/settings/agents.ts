import { useState } from 'preact/hooks'
import type { AgentView } from '../../../../schemas/hub-lists.ts'
import { html, typedIn } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { useTool } from '../../use-tool.ts'
import { agentWords } from '../../words.ts'
import { Flower } from '../flower.ts'
import { Section } from '../section.ts'
import { AgentPage } from './agent-page.ts'

interface Opened {
  name: string
  isNew: boolean
}

/** Lists the agents; each opens with its file, what it remembers, its schedules and its budget. */
export function Agents(props: SectionProps) {
  const { value, error, read } = useTool<{ agents: AgentView[] }>(props, 'hub_list_agents')
  const [open, setOpen] = useState<Opened | null>(null)
  const back = () => {
    setOpen(null)
    void read()
  }
  if (open !== null) return html`<${AgentPage} key=${open.name} ...${open} parts=${props} onBack=${back} />`
  return html`<${Section} title="Agents and their files" error=${error} isLoading=${value === null}>
      <ul class="cards">
        ${value?.agents.map(
          ({ name, status, description }) => html`<li class="card" key=${name}>
            <div class="card-head"><${Flower} name=${name} status=${status} /><span class="card-name">${name}</span><span class=${`card-state state-${status}`}>${agentWords(status)}</span></div>
            ${description && html`<p class="card-text">${description}</p>`}
            <div class="card-actions"><button type="button" class="quiet" onClick=${() => setOpen({ name, isNew: false })}>Open<span class="visually-hidden"> ${name}</span></button></div>
          </li>`,
        )}
      </ul>
      <${NewAgent} taken=${value?.agents.filter(({ status }) => status !== 'retired').map(({ name }) => name) ?? []} onNew=${(name: string) => setOpen({ name, isNew: true })} />
    <//>`
}

/** Matches the names that files may have, as in `schemas/names.ts`. */
const NAME = '[a-z0-9](?:[a-z0-9_\\-]{0,62}[a-z0-9])?'

function NewAgent({ taken, onNew }: { taken: string[]; onNew: (name: string) => void }) {
  const [name, setName] = useState('')
  const isTaken = taken.includes(name)
  const onSubmit = (event: Event) => {
    event.preventDefault()
    if (!isTaken) onNew(name)
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Name of a new agent <input required pattern=${NAME} title="Small letters, digits, - and _" maxlength="64" autocomplete="off" autocapitalize="none" value=${name} onInput=${(event: Event) => setName(typedIn(event))} /></label>
    <button class="primary">New agent</button>
    ${isTaken && html`<p class="panel-error" role="alert">There is an agent ${name} already: open it above.</p>`}
  </form>`
}
