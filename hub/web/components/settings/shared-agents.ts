import { useState } from 'preact/hooks'
import type { AgentEdit } from '../../../../schemas/agent-edit.ts'
import type { AgentView } from '../../../../schemas/hub-lists.ts'
import { html } from '../../html.ts'
import type { SectionProps } from '../../places.ts'
import { withShared } from '../../share-agent.ts'
import { useAction } from '../../use-tool.ts'
import { Section } from '../section.ts'

type SharedAgentsProps = Pick<SectionProps, 'mcp'> & {
  /** Null before they are read. */
  agents: AgentView[] | null
  error: string | undefined
  onDone: () => Promise<void>
}

/** Lists the agents, each with a switch that lets members and guests talk with it. */
export function SharedAgents({ mcp, agents, error, onDone }: SharedAgentsProps) {
  return html`<${Section} title="Agents that people may talk with" error=${error} isLoading=${agents === null}>
    <p class="card-text">Each person has conversations of their own and does not see yours. An agent has one memory: it may tell a person what you told it, so give others an agent of their own for what they are not to know.</p>
    <ul class="cards">
      ${agents?.map(agent => html`<${Switch} key=${agent.name} agent=${agent} mcp=${mcp} onDone=${onDone} />`)}
    </ul>
  <//>`
}

type SwitchProps = Pick<SharedAgentsProps, 'mcp' | 'onDone'> & { agent: AgentView }

function Switch({ agent: { name, description, shared }, mcp, onDone }: SwitchProps) {
  const { error, start } = useAction()
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = async (event: Event) => {
    const next = (event.target as HTMLInputElement).checked
    setWanted(next)
    await start(async () => {
      const { text = '', sha256 } = await mcp.call<AgentEdit>('hub_read_agent', { agent: name })
      await mcp.call('hub_write_agent', { agent: name, text: withShared(text, next), sha256 })
    })
    await onDone()
    setWanted(null)
  }
  return html`<li class="card">
    <label><input type="checkbox" checked=${wanted ?? shared !== false} onChange=${change} /> ${name}</label>
    ${description && html`<p class="card-text">${description}</p>`}
    ${typeof shared !== 'boolean' && html`<p class="card-text">Members also use ${shared.join(', ')}, as its file says.</p>`}
    ${error && html`<p class="panel-error" role="alert">${error}</p>`}
  </li>`
}
