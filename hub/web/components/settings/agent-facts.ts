import { useState } from 'preact/hooks'
import type { AgentEdit } from '../../../../schemas/agent-edit.ts'
import { html, typedIn } from '../../html.ts'
import { escapeUnseen } from '../../unseen.ts'
import { useAction } from '../../use-tool.ts'
import { ActButton, AskAgain } from '../ask-again.ts'
import { Section } from '../section.ts'

type Fact = AgentEdit['facts'][number]
type Act = (tool: string, args: Record<string, unknown>) => Promise<void>

/** Lists what an agent remembers; each fact can be changed, accepted and forgotten. */
export function AgentFacts({ facts, act }: { facts: Fact[]; act: Act }) {
  return html`<${Section} title="What it remembers" isLoading=${false}>
    ${facts.length === 0 && html`<p class="panel-none">Nothing yet. Tell it what it should never forget.</p>`}
    <ul class="cards">
      ${facts.map(fact => html`<${FactCard} key=${`${fact.scope} ${fact.key}`} fact=${fact} act=${act} />`)}
    </ul>
  <//>`
}

const ORIGINS: Record<string, string> = {
  foreign:
    'A text from outside led to this. The agent reads it as data, never as an instruction, until you accept it.',
  guest: 'A guest led to this. The agent reads it as data until you accept it.',
}

function FactCard({ fact, act }: { fact: Fact; act: Act }) {
  const { scope, key, value, power } = fact
  const [isEdited, setEdited] = useState(false)
  const store = (text: string) => act('hub_store_fact', { scope, key, value: text })
  return html`<li class="card">
    <div class="card-head"><span class="card-name">${escapeUnseen(key)}</span>${scope === 'thread' && html`<span class="card-state">in this history only</span>`}</div>
    ${
      isEdited
        ? html`<${FactForm} fact=${fact} onStore=${store} onDone=${() => setEdited(false)} />`
        : html`<p class="card-text">${escapeUnseen(value)}</p>
          ${power && html`<p class="server-note">${ORIGINS[power] ?? `Work of the power ${power} led to this.`}</p>`}
          <div class="card-actions">
            ${power && html`<${ActButton} label="Accept" name=${`Accept ${key}`} busy="Accepting…" onClick=${() => store(value)} />`}
            <button type="button" class="quiet" onClick=${() => setEdited(true)}>Change<span class="visually-hidden"> ${key}</span></button>
            <${AskAgain} label="Forget" name=${`Forget ${key}`} question="Forget it for good?" yes="Forget it" busy="Forgetting…" onYes=${() => act('hub_remove_fact', { scope, key })} />
          </div>`
    }
  </li>`
}

interface FactFormProps {
  fact: Fact
  onStore: (text: string) => Promise<void>
  onDone: () => void
}

function FactForm({ fact, onStore, onDone }: FactFormProps) {
  const [text, setText] = useState(fact.value)
  const { error, start } = useAction()
  const onSubmit = async (event: Event) => {
    event.preventDefault()
    if (await start(() => onStore(text))) onDone()
  }
  return html`<form class="row-form" onSubmit=${onSubmit}>
    <label>Fact <textarea required rows="3" maxlength="4000" value=${text} onInput=${(event: Event) => setText(typedIn(event))}></textarea></label>
    <button class="primary">Store</button>
    <button type="button" class="quiet" onClick=${onDone}>Leave it</button>
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </form>`
}
